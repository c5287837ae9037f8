#include "os/node/affinity.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/hex_mask.h"
#include "os/error.h"

namespace muster::os {
namespace {

constexpr size_t kBits = 8 * sizeof(unsigned long);
constexpr size_t kMaxNumaNodes = 1024;  // the kernel's largest configuration
static_assert(kBits == 64, "Bitmap's words are the kernel's");

std::vector<unsigned long> mask_of(const Bitmap& b) {
  std::vector<unsigned long> out(b.words().begin(), b.words().end());
  return out;
}

int mode_of(MemoryPolicy p) {
  switch (p) {
    case MemoryPolicy::kBind: return MPOL_BIND;
    case MemoryPolicy::kPrefer: return MPOL_PREFERRED;
    case MemoryPolicy::kInterleave: return MPOL_INTERLEAVE;
    case MemoryPolicy::kLocal: return MPOL_LOCAL;
    default: return MPOL_DEFAULT;
  }
}

Result<> set_mode(int mode, const std::vector<unsigned long>& nodes) {
  const bool none = std::all_of(nodes.begin(), nodes.end(), [](unsigned long w) { return w == 0; });
  // The kernel reads one bit less than it is told.
  const long r =
      none ? syscall(SYS_set_mempolicy, mode, nullptr, 0) : syscall(SYS_set_mempolicy, mode, nodes.data(), nodes.size() * kBits + 1);
  if (r < 0) return fail_errno("NUMA memory policy");
  return {};
}

}  // namespace

Result<> set_cpu_affinity(pid_t pid, const Bitmap& os_cpus) {
  if (os_cpus.none()) return fail(Errc::kInvalidArgument, "CPU affinity: the mask is empty");
  const auto mask = mask_of(os_cpus);
  if (syscall(SYS_sched_setaffinity, pid, mask.size() * sizeof(unsigned long), mask.data()) < 0)
    return fail_errno("CPU affinity " + hex_mask(os_cpus));
  return {};
}

Result<Bitmap> cpu_affinity(pid_t pid) {
  std::vector<unsigned long> mask(16);
  while (true) {
    const long n = syscall(SYS_sched_getaffinity, pid, mask.size() * sizeof(unsigned long), mask.data());
    if (n >= 0) return Bitmap::from_words(static_cast<size_t>(n) * 8, mask);
    if (errno != EINVAL || mask.size() > 4096) return fail_errno("CPU affinity of process " + std::to_string(pid));
    mask.resize(mask.size() * 4);
  }
}

Result<MemoryPolicyNow> memory_policy() {
  int mode = 0;
  std::vector<unsigned long> nodes(kMaxNumaNodes / kBits);
  if (syscall(SYS_get_mempolicy, &mode, nodes.data(), nodes.size() * kBits + 1, nullptr, 0) < 0) return fail_errno("NUMA memory policy");
  MemoryPolicyNow now;
  for (auto p : {MemoryPolicy::kBind, MemoryPolicy::kPrefer, MemoryPolicy::kInterleave, MemoryPolicy::kLocal})
    if (mode_of(p) == mode) now.policy = p;
  now.numa_nodes = Bitmap::from_words(kMaxNumaNodes, nodes);
  return now;
}

Result<ScopedMemoryPolicy> ScopedMemoryPolicy::set(MemoryPolicy policy, const Bitmap& numa_nodes) {
  const bool takes_nodes = policy != MemoryPolicy::kDefault && policy != MemoryPolicy::kLocal;
  if (takes_nodes && numa_nodes.none()) return fail(Errc::kInvalidArgument, "NUMA memory policy: no node given");
  ScopedMemoryPolicy scoped;
  scoped.old_nodes_.resize(kMaxNumaNodes / kBits);
  if (syscall(SYS_get_mempolicy, &scoped.old_mode_, scoped.old_nodes_.data(), scoped.old_nodes_.size() * kBits + 1, nullptr, 0) < 0)
    return fail_errno("NUMA memory policy");
  MUSTER_TRY_VOID(set_mode(mode_of(policy), takes_nodes ? mask_of(numa_nodes) : std::vector<unsigned long>{}));
  scoped.active_ = true;
  return scoped;
}

ScopedMemoryPolicy::ScopedMemoryPolicy(ScopedMemoryPolicy&& o) noexcept
    : active_(std::exchange(o.active_, false)), old_mode_(o.old_mode_), old_nodes_(std::move(o.old_nodes_)) {}

ScopedMemoryPolicy::~ScopedMemoryPolicy() {
  // The old policy was in force on this machine, so it can be set again; a failure leaves a slower placement only.
  if (active_) (void)set_mode(old_mode_, old_nodes_);
}

}  // namespace muster::os
