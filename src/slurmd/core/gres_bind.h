// Which of a step's devices each task sees: --tres-bind (and --gpu-bind, --gpus-per-task, --ntasks-per-gpu, which srun turns into it), the
// devices' affinity, the tasks' CPUs → devices per task. Pure. srun(1) --tres-bind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "model/job_request.h"
#include "model/resources.h"
#include "model/task_bind.h"

namespace muster::slurmd {

struct DeviceBinding {
  std::vector<Bitmap> devices;     // by local task number; an empty set: all of the step's
  std::vector<std::string> notes;  // for the step's stderr: verbose, and devices that are not the step's
};
struct DeviceBindRequest {
  std::string name;                // "gpu"
  Bitmap held;                     // of the step, by number on the node
  bool relative = false;           // map and mask count the step's devices from 0 (ConstrainDevices)
  std::vector<Bitmap> task_cores;  // by local task number, core numbers
  std::vector<uint32_t> ranks;     // by local task number
};
Result<DeviceBinding> bind_devices(const TresBindText& asked, const DeviceBindRequest& request, const std::vector<GresDevices>& node);

}  // namespace muster::slurmd
