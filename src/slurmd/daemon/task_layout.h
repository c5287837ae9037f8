// The tasks of one node's part of a step: program (--multi-prog), files, CPUs (--cpu-bind), devices
// (--gpu-bind).
#pragma once

#include <string_view>
#include <vector>

#include "model/step_rpc.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

Result<std::vector<step_rpc::TaskLaunch>> lay_out_tasks(const Setup& setup,
                                                        const rpc::StepCredential& credential,
                                                        size_t node_index, const StepRequest& request,
                                                        const Bitmap& cpus, const NodeContext& context);

// The line of a --multi-prog file that a rank runs: "4-6 echo task:%t offset:%o". Errors: no line for the
// rank.
Result<std::vector<std::string>> multi_prog_argv(std::string_view text, uint32_t rank);

// The GPUs of the task with this local number, out of the step's, by --tres-bind=gres/gpu:… ; empty: all of
// them.
Result<Bitmap> gpus_of_task(std::string_view tres_bind, const Bitmap& step_gpus, uint32_t local_id,
                            uint32_t tasks_here, const std::vector<GresDevices>& devices,
                            const Bitmap& task_cores);

}  // namespace muster::slurmd
