// The variables by which programs find their devices: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES,
// ZE_AFFINITY_MASK and GPU_DEVICE_ORDINAL by the flags of gres.conf, MPS percentages, shards. Pure.
// gres.conf(5) Flags, gres guide.
//
// A GPU's number is its index on the node; where cgroups hide the others (ConstrainDevices), its place among
// those that are left. With env_uuid, and always for MIG instances, CUDA and ROCm get UUIDs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurmd/core/environment.h"

namespace muster::slurmd {

// GPUs of the share: its own, and those whose shards or MPS parts it holds.
Bitmap gpus_of(const std::vector<GresShare>& share);
// Of a job or step. SLURM_JOB_GPUS or SLURM_STEP_GPUS by `list_name`. Nothing without a device.
std::vector<std::string> device_environment(const NodeContext& node, const std::vector<GresShare>& share, std::string_view list_name);
// Of a task that is bound to `bound` of the step's GPUs `held`: the *_VISIBLE_DEVICES kind only.
std::vector<std::string> bound_environment(const NodeContext& node, const Bitmap& held, const Bitmap& bound);
// What the user's shell had of these names goes.
void drop_device_variables(std::vector<std::string>& environment);

}  // namespace muster::slurmd
