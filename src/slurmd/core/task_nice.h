// The nice value of tasks: slurm.conf(5) PropagatePrioProcess.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::slurmd {

// `mode`: PropagatePrioProcess. The submitter's value is SLURM_PRIO_PROCESS in the step's environment, which the user may have set to
// anything: nobody but root gets a higher priority than slurmd's own `own` (with mode 2 not even root). With mode 1 and no such value tasks
// are as nice as slurmd.
std::optional<int> task_nice(unsigned mode, const std::vector<std::string>& environment, int own, bool is_root);

}  // namespace muster::slurmd
