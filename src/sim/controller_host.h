// ControllerHost: the controller's process around the real Core: the turn loop of slurmctld (collect, decide, append, commit, answer,
// effects), its connections to nodes, its planner. It can die at any point; the disk stays. start() is also the restart: snapshot, replay,
// configure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/node_rpc.h"
#include "sched/planner.h"
#include "slurmctld/core/core.h"
#include "store/memory_log.h"

namespace muster::sim {

class World;

struct ControllerTask {
  using Reply = std::function<void()>;
  std::function<Reply(slurmctld::Core&)> run;  // the reply leaves after the commit
  std::function<void(const Error&)> refused;   // the append failed: nothing happened
};

class ControllerHost {
 public:
  explicit ControllerHost(World& world);

  void start();
  void crash(const char* where);
  bool up() const { return core_ != nullptr; }
  void post(ControllerTask command);  // lost when the controller is down

  void on_report(uint32_t node, uint64_t connection, const Numbered<NodeReport>& message);
  void on_closed(uint32_t node, uint64_t connection);

  const slurmctld::Core& core() const { return *core_; }
  store::MemoryDisk& disk() { return *disk_; }
  Time wall() const;  // the controller's clock
  void step_clock(Duration by) { clock_offset_ += by; }
  void set_disk_full(bool full) { disk_full_ = full; }
  uint32_t turns() const { return turns_; }
  uint32_t events() const { return events_; }
  uint32_t crashes() const { return crashes_; }
  uint32_t rollbacks() const { return rollbacks_; }

 private:
  struct Link {
    uint64_t connection = 0, session = 0, received = 0, sent = 0;
  };
  bool recover();
  void turn();
  void wake(Duration delay);
  // `died`: the process died while it wrote; then the result means nothing.
  Result<> append(bool& died);
  store::AppendFault next_fault();
  void refuse(std::vector<ControllerTask>& batch, const Error& error);
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
  store::Term term_ = 0;
  // gone with the process
  std::unique_ptr<slurmctld::Core> core_;
  std::unique_ptr<store::MemoryLog> log_;
  std::unique_ptr<sched::Planner> planner_;
  std::vector<ControllerTask> inbox_;
  std::vector<Link> links_;
  uint64_t incarnation_ = 0, wake_number_ = 0, first_connection_ = 0;
  Time wake_at_ = kTimeInfinite;
  bool plan_scheduled_ = false;
  uint32_t since_snapshot_ = 0;
};

}  // namespace muster::sim
