// External steps on this node (PrologFlags=Contain): the group of their processes, and the processes of logins that they adopt. What starts
// and ends them is slurmd/core/node_core.h. slurm.conf(5), the pam_slurm_adopt guide.
#pragma once

#include <sys/types.h>

#include <vector>

#include "model/step_rpc.h"
#include "os/fd.h"
#include "os/log.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// For SpawnSpec::cgroup_procs_fds: the group of the job's external step. Nothing where there are no groups.
std::vector<os::Fd> external_procs(const Setup& setup, os::Log& log, JobId job);
// The processes of an external step. Nothing where there are no groups: then it adopts none.
std::vector<pid_t> external_processes(const Setup& setup, JobId job);
// Moves `process` into the newest of these external steps, or says why it did not. All of `steps` run and are of the user that is meant.
// The newest is the one that came to this node last; of those of one second, the one with the highest job id. O(steps).
rpc::ProcessAdopted adopt(const Setup& setup, std::vector<step_rpc::StepdReport> steps, bool only_one, pid_t process);

}  // namespace muster::slurmd
