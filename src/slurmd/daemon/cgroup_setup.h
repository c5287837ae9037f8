// The control groups of this node: whether cgroup.conf and slurm.conf want any, where they are, and their beginning.
// Their end is in leftovers.h. What a job may use is in core/cgroup_plan.h; slurmstepd writes it.
#pragma once

#include "os/log.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// Says where they are (setup.groups); on a machine of systemd and cgroup v2 it also opens the scope where steps live.
Result<> prepare_cgroups(Setup& setup, os::Log& log);
// Before a launch: a scope whose keeper was killed goes with its last process, and what slurmstepd made in its place would not be
// delegated to us.
Result<> look_after_scope(const Setup& setup, os::Log& log);
// When the configuration is read again: the groups stay where jobs have them, for as long as slurmd runs.
Result<> keep_cgroups(const Setup& before, Setup& fresh, os::Log& log);

}  // namespace muster::slurmd
