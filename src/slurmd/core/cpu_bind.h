// Which CPUs each task of a step may run on: --cpu-bind and what implies it, the step's CPUs, the machine → one mask per task. Pure.
// srun(1) --cpu-bind, --distribution; guides cpu_management (step 4), mc_support, resource_binding.
//
// Tasks get CPUs (or, bound to cores, whole cores) by the second and third part of --distribution; the mask is then widened to what the
// binding names (socket, locality domain), never beyond the step's own CPUs. When a step has more tasks than CPUs for them, every task gets
// all of it. Checked against what Debian's Slurm 22.05 prints on a machine of 2 sockets × 4 cores × 2 threads (cpu_bind_test.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "model/cpu_map.h"
#include "model/distribution.h"
#include "model/step_request.h"
#include "model/task_bind.h"

namespace muster::slurmd {

// The site's defaults for users who say nothing, strongest first: CpuBind of the node, of the partition, TaskPluginParam.
struct CpuBindDefaults {
  CpuBind::Kind kind = CpuBind::Kind::kDefault;      // overrides automatic binding
  CpuBind::Kind autobind = CpuBind::Kind::kDefault;  // where automatic binding finds no match
  bool verbose = false;
};
// `task_plugin_param`: "cores", "none,verbose", "autobind=threads" … ; "off" and unknown words are no binding.
CpuBindDefaults cpu_bind_defaults(CpuBind::Kind node, CpuBind::Kind partition, const std::vector<std::string>& task_plugin_param);

struct CpuBinding {
  std::vector<Bitmap> os_cpus;  // by local task number, the kernel's numbers; an empty mask: not bound
  bool verbose = false;
  std::string label;        // of a verbose line: "cpu-bind=MASK", "cpu-bind=NONE"
  std::string type, list;   // SLURM_CPU_BIND_TYPE, SLURM_CPU_BIND_LIST
  std::vector<Bitmap> own;  // by local task number, the model's numbers: where the task's share lies (for GPUs)
};
// `tasks` ≥ 1 on this node; `step_cpus` by the model's numbers. Errors: kCpuBind, a binding outside of the step or one that needs the
// entire node; kInvalidReq, a text that cannot be read.
Result<CpuBinding> bind_cpus(const StepRequest& request, uint32_t tasks, const Bitmap& step_cpus, const CpuMap& machine,
                             const CpuBindDefaults& defaults);

// "cpu-bind=MASK - n1, task  0  0 [%p]: mask 0x1 set"; %p stands for the task's process id.
std::string cpu_bind_line(const CpuBinding& binding, const std::string& node, uint32_t rank, uint32_t local_id);
// SLURM_CPU_BIND and its parts, NAME=value.
std::vector<std::string> cpu_bind_environment(const CpuBinding& binding);

}  // namespace muster::slurmd
