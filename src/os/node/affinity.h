// Where tasks run and where their memory comes from: CPU masks by the kernel's numbers (model/cpu_map.h
// translates) and NUMA policies. What is bound to what is decided in slurmd/core.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"

namespace muster::os {

// pid 0 = the calling thread. Give a new process its mask with SpawnSpec::cpus instead.
Result<> set_cpu_affinity(pid_t pid, const Bitmap& os_cpus);
Result<Bitmap> cpu_affinity(pid_t pid);
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

}  // namespace muster::os
