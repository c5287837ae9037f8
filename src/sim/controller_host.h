// ControllerHost: the controller's process around slurmctld's own TurnDriver: its queue, its connections to nodes, its planner, its clock. It
// can die at any point; the disk stays. start() is also the restart.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/link_session.h"
#include "model/node_rpc.h"
#include "sched/planner.h"
#include "slurmctld/turn/turn_driver.h"
#include "store/memory_log.h"

namespace muster::sim {

class World;

class ControllerHost final : public Clock {
 public:
  explicit ControllerHost(World& world);

  void start();
  void crash(const char* where);
  bool up() const { return driver_ != nullptr; }
  void post(slurmctld::Task command);  // lost when the controller is down

  void on_report(uint32_t node, uint64_t connection, const Numbered<NodeReport>& message);
  void on_closed(uint32_t node, uint64_t connection);

  const slurmctld::Core& core() const { return driver_->core(); }
  store::MemoryDisk& disk() { return *disk_; }
  Time now() const override;         // the controller's clock, which may be wrong
  Duration steady() const override;  // the world's
  void step_clock(Duration by);
  void set_disk_full(bool full) { disk_full_ = full; }
  uint32_t turns() const { return turns_; }
  uint32_t events() const { return events_; }
  uint32_t crashes() const { return crashes_; }
  uint32_t rollbacks() const { return rollbacks_; }

 private:
  struct Link {
    uint64_t connection = 0;
    LinkSession session;
  };
  bool recover();
  void turn();
  void wake(Duration delay);
  // One turn of what is in the inbox. nullopt: the process died while it wrote.
  std::optional<slurmctld::TurnDriver::Turn> run_turn();
  void let_out(slurmctld::TurnDriver::Turn turn);
  void sleep_on();
  store::AppendFault next_fault();
  void refuse(slurmctld::TurnDriver::Turn turn);
  void carry_out(std::vector<slurmctld::Effect> effects);
  void send(uint32_t node, NodeOrder order);
  void maybe_snapshot();
  void plan_soon();
  void plan(sched::Pass pass);
  void full_pass_later();

  World& world_;
  std::shared_ptr<store::MemoryDisk> disk_;
  Duration clock_offset_{};
  bool disk_full_ = false;
  uint32_t turns_ = 0, events_ = 0, crashes_ = 0, rollbacks_ = 0;
  // gone with the process
  std::unique_ptr<slurmctld::TurnDriver> driver_;
  std::unique_ptr<sched::Planner> planner_;
  std::vector<slurmctld::Task> inbox_;
  std::vector<Link> links_;
  uint64_t incarnation_ = 0, wake_number_ = 0, first_connection_ = 0;
  Time wake_at_ = kTimeInfinite;
  bool plan_scheduled_ = false;
};

}  // namespace muster::sim
