// SLURMD_OOM_ADJ and SLURMSTEPD_OOM_ADJ, with which slurmd is started: how ready the kernel is to end slurmd and slurmstepd for want of memory.
// The FAQ; os/oom_shield.h.
#pragma once

#include <optional>

#include "model/step_run.h"
#include "os/log.h"

namespace muster::slurmd {

// Gives slurmd its score. What each slurmstepd is told: its own, and that of the tasks, which is the one that we were started with, and never
// below 0, so that no job is spared; nullopt where neither variable is set.
std::optional<step_rpc::StepdOomScore> take_oom_scores(os::Log& log);

}  // namespace muster::slurmd
