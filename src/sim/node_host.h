// NodeHost: one simulated machine. Its processes (one entry per step, as slurmstepd would be) outlive slurmd and die with
// the machine; slurmd is the real NodeCore, whose effects are carried out here after a drawn delay.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "model/link_session.h"
#include "model/node_rpc.h"
#include "sim/sim_step.h"
#include "slurmd/core/node_core.h"

namespace muster::sim {

class World;

struct Process {  // a step with its slurmstepd
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  NodeShare share;       // what it was given on this node
  bool ended = false;    // no process is left; slurmstepd may be
  bool excused = false;  // the controller gave the node up (DOWN) while it lived
  std::shared_ptr<SimStep> stepd;
};

class NodeHost {
 public:
  NodeHost(World& world, uint32_t index);

  // ---- from the network
  void on_order(const Numbered<NodeOrder>& message);
  void on_closed(uint64_t connection);
  // srun asks the node directly for a step.
  void ask_step(JobId job, uint32_t generation, StepId step, const NodeShare& share, Duration runtime);

  // ---- faults
  void power_off();
  void power_on();
  void stop_slurmd();
  void start_slurmd();
  bool powered() const { return powered_; }
  void set_degraded(bool on);

  bool runs_anything() const;
  std::string running_text() const;
  bool runs(JobId job, uint32_t generation) const;
  using Processes = std::map<std::tuple<JobId, uint32_t, StepId>, Process>;
  const Processes& processes() const { return processes_; }
  void excuse(JobId job, uint32_t generation);
  bool connected() const { return connection_ != 0; }

 private:
  void dial_later();
  void dial();
  void feed(slurmd::NodeEvent event, Duration delay);
  void pump();
  void send(NodeReport report);
  // Whether jobs fail here, as on a node with a broken device.
  bool breaks_jobs() const;
  void start(Process p, Duration runtime);
  void start_of_job(const node_rpc::JobOnNode& job, StepId step, Duration runtime);  // its batch script or external step
  SimStep::Told told_of(const Process& process);
  template <class F>
  void for_each_of(JobId job, uint32_t generation, F f);
  void carry_out(const slurmd::RunProlog& e);
  void carry_out(const slurmd::RunEpilog& e);
  void carry_out(const slurmd::StartExternal& e);
  void carry_out(const slurmd::EndExternal& e);
  void carry_out(const slurmd::FindContent& e);
  void carry_out(const slurmd::StartBatch& effect);
  void carry_out(const slurmd::StartStep& effect);
  void carry_out(const slurmd::RefuseStep& e);
  void carry_out(const slurmd::EndSteps& e);
  void carry_out(const slurmd::SignalSteps& e);
  void carry_out(const slurmd::LimitSteps&) {}
  void carry_out(const slurmd::MeasureSteps& e);
  void carry_out(const slurmd::LimitMemoryOfSteps&) {}
  void carry_out(const slurmd::StopSteps& e);
  void carry_out(const slurmd::ReleaseStep& e);
  void carry_out(const slurmd::DropJob&) {}
  void carry_out(const slurmd::ReadConfig&) {}
  void carry_out(const slurmd::StopDaemon&) {}
  void carry_out(const slurmd::ChangeLogging&) {}
  void carry_out(const slurmd::Reboot& reboot);
  void carry_out(const slurmd::PowerDown&) {}
  void carry_out(const slurmd::TestThisNode& test);
  void carry_out(const slurmd::NotifySteps&) {}

  World& world_;
  uint32_t index_;
  const std::string& name_;
  // the machine
  bool powered_ = false, degraded_ = false;
  uint32_t boots_ = 0;
  std::set<std::string> reboots_;  // by the reason of each that was begun
  Processes processes_;
  struct Asked {
    NodeShare share;
    Duration runtime{};
  };
  std::map<std::tuple<JobId, uint32_t, StepId>, Asked> asked_;
  // slurmd
  std::unique_ptr<slurmd::NodeCore> core_;  // null: not running
  uint64_t incarnation_ = 0;
  uint64_t connection_ = 0;
  LinkSession session_;
};

}  // namespace muster::sim
