// PowerSave: which nodes are powered down because nobody has needed them for SuspendTime, or since their partition says PowerDownOnIdle.
// slurm.conf(5) Suspend*; guide power_save. What `scontrol power` asks for is decided in node_power.cc; both end in the same event.
//
// A node is powered down when it has no job and is IDLE or DOWN for its SuspendTime: the node's own, else the longest of its partitions', else
// the cluster's. It stays up where SuspendExcStates, SuspendExcParts or SuspendExcNodes name it; "nid[10-20]:4" keeps four of these that are
// fit for work. Of those that are due, the ones that have been idle for longest go first, SuspendRate of them in a minute.
//
// Nothing of this is state: who is idle since when is known of each node, and after a restart the rate begins anew. Cost: look() O(nodes), at
// most once a second.
#pragma once

#include "base/time.h"
#include "config/slurm_conf.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/minute_rate.h"

namespace muster::slurmctld {

class PowerSave {
 public:
  // Whether anything is powered down by itself: both programs are there.
  static bool on(const config::Config& config) { return !config.suspend_program.empty() && !config.resume_program.empty(); }

  // Powers down what is due; `planned`: nodes that are kept for jobs, which SuspendExcStates=PLANNED holds up. Returns when to look again; kTimeInfinite: not before the configuration is another.
  Time look(const View& view, const sched::PlannedNodes& planned, Events& out);

 private:
  MinuteRate rate_;
};

}  // namespace muster::slurmctld
