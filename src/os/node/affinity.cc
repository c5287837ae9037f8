#include "os/node/affinity.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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
    case MemoryPolicy::kBind:
      return MPOL_BIND;
    case MemoryPolicy::kPrefer:
      return MPOL_PREFERRED;
    case MemoryPolicy::kInterleave:
      return MPOL_INTERLEAVE;
    case MemoryPolicy::kLocal:
      return MPOL_LOCAL;
    default:
      return MPOL_DEFAULT;
  }
}

Result<> set_mode(int mode, const std::vector<unsigned long>& nodes) {
  const bool none = std::all_of(nodes.begin(), nodes.end(), [](unsigned long w) { return w == 0; });
  // The kernel reads one bit less than it is told.
  const long r = none ? syscall(SYS_set_mempolicy, mode, nullptr, 0)
                      : syscall(SYS_set_mempolicy, mode, nodes.data(), nodes.size() * kBits + 1);
  if (r < 0) return fail_errno("NUMA memory policy");
  return {};
}

}  // namespace

Result<> set_cpu_affinity(pid_t pid, const Bitmap& os_cpus) {
  if (os_cpus.none()) return fail(Errc::kInvalidArgument, "CPU affinity: the mask is empty");
  const auto mask = mask_of(os_cpus);
  if (syscall(SYS_sched_setaffinity, pid, mask.size() * sizeof(unsigned long), mask.data()) < 0)
    return fail_errno("CPU affinity " + format_cpu_mask(os_cpus));
  return {};
}

Result<Bitmap> cpu_affinity(pid_t pid) {
  std::vector<unsigned long> mask(16);
  while (true) {
    const long n = syscall(SYS_sched_getaffinity, pid, mask.size() * sizeof(unsigned long), mask.data());
    if (n >= 0) return Bitmap::from_words(static_cast<size_t>(n) * 8, {mask.begin(), mask.end()});
    if (errno != EINVAL || mask.size() > 4096)
      return fail_errno("CPU affinity of process " + std::to_string(pid));
    mask.resize(mask.size() * 4);
  }
}

std::string format_cpu_mask(const Bitmap& os_cpus) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string digits;
  for (size_t i = 0; i < os_cpus.size(); i += 4) {
    unsigned v = 0;
    for (size_t b = 0; b < 4; ++b) v |= static_cast<unsigned>(os_cpus.test(i + b)) << b;
    digits.push_back(kHex[v]);
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (digits.empty()) digits = "0";
  return "0x" + std::string(digits.rbegin(), digits.rend());
}

Result<Bitmap> parse_cpu_mask(std::string_view text, size_t limit) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (digits.empty() || digits.size() * 4 > limit)
    return fail(Errc::kInvalidArgument, "\"" + std::string(text.substr(0, 80)) + "\" is not a CPU mask");
  Bitmap out;
  for (size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[digits.size() - 1 - i];
    unsigned v = 16;
    if (c >= '0' && c <= '9') v = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') v = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') v = static_cast<unsigned>(c - 'A') + 10;
    if (v == 16)
      return fail(Errc::kInvalidArgument, "\"" + std::string(text.substr(0, 80)) + "\" is not a CPU mask");
    for (size_t b = 0; b < 4; ++b)
      if (v >> b & 1) out.set(i * 4 + b);
  }
  return out;
}

Result<MemoryPolicyNow> memory_policy() {
  int mode = 0;
  std::vector<unsigned long> nodes(kMaxNumaNodes / kBits);
  if (syscall(SYS_get_mempolicy, &mode, nodes.data(), nodes.size() * kBits + 1, nullptr, 0) < 0)
    return fail_errno("NUMA memory policy");
  MemoryPolicyNow now;
  for (auto p : {MemoryPolicy::kBind, MemoryPolicy::kPrefer, MemoryPolicy::kInterleave, MemoryPolicy::kLocal})
    if (mode_of(p) == mode) now.policy = p;
  now.numa_nodes = Bitmap::from_words(kMaxNumaNodes, {nodes.begin(), nodes.end()});
  return now;
}

Result<ScopedMemoryPolicy> ScopedMemoryPolicy::set(MemoryPolicy policy, const Bitmap& numa_nodes) {
  const bool takes_nodes = policy != MemoryPolicy::kDefault && policy != MemoryPolicy::kLocal;
  if (takes_nodes && numa_nodes.none())
    return fail(Errc::kInvalidArgument, "NUMA memory policy: no node given");
  ScopedMemoryPolicy scoped;
  scoped.old_nodes_.resize(kMaxNumaNodes / kBits);
  if (syscall(SYS_get_mempolicy, &scoped.old_mode_, scoped.old_nodes_.data(),
              scoped.old_nodes_.size() * kBits + 1, nullptr, 0) < 0)
    return fail_errno("NUMA memory policy");
  MUSTER_TRY_VOID(
      set_mode(mode_of(policy), takes_nodes ? mask_of(numa_nodes) : std::vector<unsigned long>{}));
  scoped.active_ = true;
  return scoped;
}

ScopedMemoryPolicy::ScopedMemoryPolicy(ScopedMemoryPolicy&& o) noexcept
    : active_(std::exchange(o.active_, false)), old_mode_(o.old_mode_), old_nodes_(std::move(o.old_nodes_)) {}

ScopedMemoryPolicy::~ScopedMemoryPolicy() {
  // The old policy was in force on this machine, so it can be set again; a failure leaves a slower placement
  // only.
  if (active_) (void)set_mode(old_mode_, old_nodes_);
}

Bitmap closest_devices(const std::vector<GresDevices>& devices, const Bitmap& among, const Bitmap& cores) {
  Bitmap near;
  for (const auto& d : devices) {
    if (d.name != "gpu" || (d.cores.any() && !d.cores.intersects(cores))) continue;
    for (uint64_t i = d.first_index; i < d.first_index + d.count; ++i)
      if (among.test(i)) near.set(i);
  }
  return near.any() ? near : among;
}

}  // namespace muster::os
