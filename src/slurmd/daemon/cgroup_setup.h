// The control groups of this node: whether cgroup.conf and slurm.conf want any, where they are, and how they are made. Their end is in
// leftovers.h. What a job may use is in core/cgroup_plan.h; slurmstepd writes it into the groups.
#pragma once

#include "os/log.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// Finds out where the groups are (setup.groups); on a machine with systemd and cgroup v2 it also opens the scope where steps live.
Result<> prepare_cgroups(Setup& setup, os::Log& log);
// Called before a launch: a scope whose keeper was killed ends with its last process, and groups that slurmstepd made in its place would
// not be delegated to us.
Result<> look_after_scope(const Setup& setup, os::Log& log);
// Called when the configuration is read again: the groups stay where jobs have them, for as long as slurmd runs.
Result<> keep_cgroups(const Setup& before, Setup& fresh, os::Log& log);

}  // namespace muster::slurmd
