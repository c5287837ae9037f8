// Where tasks run and where their memory comes from: CPU masks by the kernel's numbers (hardware.h
// translates), NUMA policies, and which GPUs are near given cores. srun(1) --cpu-bind, --mem-bind,
// --gpu-bind=closest.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "model/resources.h"

namespace muster::os {

// pid 0 = the calling thread. Give a new process its mask with SpawnSpec::cpus instead.
Result<> set_cpu_affinity(pid_t pid, const Bitmap& os_cpus);
Result<Bitmap> cpu_affinity(pid_t pid);
// "0xF", "0x3F0000000" as --cpu-bind=verbose and SLURM_CPU_BIND_LIST print masks; parse takes it with or
// without 0x.
std::string format_cpu_mask(const Bitmap& os_cpus);
Result<Bitmap> parse_cpu_mask(std::string_view text, size_t limit = 65536);

enum class MemoryPolicy { kDefault, kBind, kPrefer, kInterleave, kLocal };
// Sets the calling thread's policy for as long as it lives; a process spawned meanwhile inherits it. kBind,
// kPrefer (the first node) and kInterleave need nodes; kDefault and kLocal take none.
class ScopedMemoryPolicy {
 public:
  static Result<ScopedMemoryPolicy> set(MemoryPolicy policy, const Bitmap& numa_nodes);
  ScopedMemoryPolicy(ScopedMemoryPolicy&& o) noexcept;
  ScopedMemoryPolicy& operator=(ScopedMemoryPolicy&&) = delete;
  ~ScopedMemoryPolicy();

 private:
  ScopedMemoryPolicy() = default;
  bool active_ = false;
  int old_mode_ = 0;
  std::vector<unsigned long> old_nodes_;
};
struct MemoryPolicyNow {
  MemoryPolicy policy = MemoryPolicy::kDefault;
  Bitmap numa_nodes;
};
Result<MemoryPolicyNow> memory_policy();

// Of the devices numbered in `among` (all named "gpu"), those whose core affinity meets `cores` (model core
// numbers); devices without a known affinity are near everything. When none is near, all of `among`: a task
// must get one.
Bitmap closest_devices(const std::vector<GresDevices>& devices, const Bitmap& among, const Bitmap& cores);

}  // namespace muster::os
