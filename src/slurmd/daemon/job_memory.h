// What a job uses of this node's memory at one moment, and its limits when it is to have less (sbatch --mem-update).
#pragma once

#include <functional>
#include <optional>

#include "slurmd/daemon/setup.h"
#include "slurmd/daemon/stepds.h"

namespace muster::slurmd {

// The resident memory of all steps of the job that run here, together; none where no use is gathered. `done` is called at once if nothing
// runs, and not at all if a slurmstepd does not answer, which is logged: slurmctld asks again.
void measure_job(Stepds& stepds, os::Log& log, JobId job, std::function<void(std::optional<Bytes>)> done);

// The limits that cgroup.conf and JobAcctGatherParams give a job, and each of its steps, with `mem_mb` on this node.
step_rpc::StepdMemory memory_limits(const Setup& setup, uint64_t mem_mb);

}  // namespace muster::slurmd
