// From which NUMA nodes each task takes its memory: --mem-bind, the machine, the tasks' CPUs → a policy per
// task. Pure. srun(1) --mem-bind. slurmstepd sets the policy (set_mempolicy(2)) as it starts the task.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cpu_map.h"
#include "model/job_request.h"
#include "model/step_rpc.h"
#include "model/task_bind.h"

namespace muster::slurmd {

struct MemBinding {
  std::vector<step_rpc::TaskMemory> tasks;  // by local task number
  bool sort = false;                        // "sort" was asked for, which has no effect here
  bool verbose = false;
  std::string label;                     // "mem-bind=LOC", "mem-bind PREFER MAP"
  std::vector<Bitmap> shown;             // the mask of a verbose line
  std::vector<std::string> environment;  // SLURM_MEM_BIND and its parts; none without --mem-bind
};
// `os_cpus`: the tasks' CPUs, empty where not bound. Errors: kInvalidReq, a text that cannot be read; kCpuBind, a NUMA node that the
// machine does not have.
Result<MemBinding> bind_memory(const MemBindText& asked, const std::vector<Bitmap>& os_cpus, const CpuMap& machine);
// "mem-bind=LOC - n1, task  0  0 [%p]: mask 0x1 set"
std::string mem_bind_line(const MemBinding& binding, const std::string& node, uint32_t rank, uint32_t local_id);

}  // namespace muster::slurmd
