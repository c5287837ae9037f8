// Site: a cluster with the controller's own core and the real planner, and nodes that exist in memory only: they have the hardware that slurm.conf
// and gres.conf give them, are up from the beginning, do what the controller orders at once and never fail. Prologs, epilogs, node boots and the end
// of a job take no time. slurmdbd has each record at once.
//
// Time is what the caller says. Cost: that of the core's turns and the planner's passes.
#pragma once

#include <functional>

#include "model/accounts.h"
#include "sched/planner.h"
#include "slurmctld/core/core.h"

namespace muster::sim::replay {

struct Capacity {
  uint64_t nodes = 0, cpus = 0, gpus = 0;
  std::vector<bool> counted;  // by NodeId: not FUTURE
};

class Site {
 public:
  struct Ports {
    // Every event once it is true, with the cluster as it then is.
    std::function<void(const Event&, const Cluster&)> witness;
    // What nodes are told of a job: its script runs from now on; it is stopped, or goes on; it is over here.
    std::function<void(JobId, uint32_t generation)> launched, terminated;
    std::function<void(JobId, uint32_t generation, bool stopped)> settled;
    // What SuspendProgram, ResumeProgram and ResumeFailProgram are told; without it nodes come up at once.
    std::function<void(event::PowerProgram, const std::vector<NodeId>&)> power = {};
  };
  Site(slurmctld::Settings settings, Ports ports, Time now);

  // Makes these accounts known. Without accounting in slurm.conf (AccountingStorageType) nothing is.
  void learn(const rpc::Entities& accounts);
  // One turn of the core, with all that follows from it at this moment.
  template <class F>
  void turn(Time now, F&& f) {
    now_ = now;
    core_.begin(now);
    f(core_);
    settle();
  }
  // Within a turn: a machine has come for the node, or its connection has ended.
  void comes_up(NodeId node, const std::string& boot_id);
  void goes_away(NodeId node) { core_.node_disconnected(node); }
  // A pass over the queue, carried out; how many jobs it started.
  size_t pass(sched::Pass kind);
  const sched::Plan& last_plan() const { return plan_; }

  const slurmctld::Core& core() const { return core_; }
  const Cluster& cluster() const { return core_.cluster(); }
  const Capacity& capacity() const { return capacity_; }
  Time next_timer() const { return core_.next_timer(); }
  uint64_t events() const { return events_; }

 private:
  void register_node(NodeId id, std::vector<GresDevices> gres, const std::string& boot_id);
  void settle();
  void answer(slurmctld::Effect& effect);
  void obey(NodeId node, NodeOrder& order);

  slurmctld::Core core_;
  sched::Planner planner_;
  sched::Plan plan_;
  Ports ports_;
  Time now_;
  Capacity capacity_;
  std::vector<std::function<void(slurmctld::Core&)>> answers_;
  uint64_t events_ = 0;
};

}  // namespace muster::sim::replay
