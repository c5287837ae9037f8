// The tasks of one node's part of a step: program (--multi-prog), files, and what the rules of slurmd/core say about CPUs (--cpu-bind),
// memory (--mem-bind) and devices (--gpu-bind).
#pragma once

#include <string_view>
#include <vector>

#include "model/step_rpc.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

Result<std::vector<step_rpc::TaskLaunch>> lay_out_tasks(const Setup& setup, const rpc::StepCredential& credential, size_t node_index,
                                                        const StepRequest& request, const Bitmap& cpus, const NodeContext& context);

// The line of a --multi-prog file that a rank runs: "4-6 echo task:%t offset:%o". Errors: no line for the rank.
Result<std::vector<std::string>> multi_prog_argv(std::string_view text, uint32_t rank);

bool has_task_plugin(const config::Config& config, std::string_view name);  // "affinity", "cgroup"

}  // namespace muster::slurmd
