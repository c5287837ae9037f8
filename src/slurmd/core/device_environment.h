// The variables by which programs find their devices: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK and GPU_DEVICE_ORDINAL
// by the flags of gres.conf, MPS percentages, shards. Pure. gres.conf(5) Flags, gres guide.
//
// A GPU's number is its index on the node; where cgroups hide the others (ConstrainDevices), its place among
// those that are left. With env_uuid, and always for MIG instances, CUDA and ROCm get UUIDs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurmd/core/environment.h"

namespace muster::slurmd {

// The GPUs of a share: its own, and those whose shards or MPS parts it holds.
Bitmap gpus_of(const std::vector<GresShare>& share);
// The variables of a job or step, with its GPUs in SLURM_JOB_GPUS or SLURM_STEP_GPUS (`list_name`). Empty without a device.
std::vector<std::string> device_environment(const NodeContext& node, const std::vector<GresShare>& share, std::string_view list_name);
// The variables of a task that is bound to `bound` of the step's GPUs `held`: only those named *_VISIBLE_DEVICES and their like.
std::vector<std::string> bound_environment(const NodeContext& node, const Bitmap& held, const Bitmap& bound);
// Removes these variables, which come from the user's shell.
void drop_device_variables(std::vector<std::string>& environment);

}  // namespace muster::slurmd
