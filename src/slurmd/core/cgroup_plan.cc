#include "slurmd/core/cgroup_plan.h"

#include <algorithm>
#include <set>

#include "slurmd/core/device_environment.h"

namespace muster::slurmd {
namespace {

uint64_t percent_of(uint64_t mb, double percent) { return static_cast<uint64_t>(static_cast<double>(mb) * percent / 100 * (1 << 20)); }

}  // namespace

MemoryPlan memory_plan(const config::CgroupConf& conf, uint64_t allocated_mb, uint64_t node_mb) {
  MemoryPlan out;
  if (!conf.constrain_ram && !conf.constrain_swap) return out;
  // Where swap alone is constrained, RAM gets the same limit as RAM and swap together.
  const double ram_percent = conf.constrain_ram ? conf.allowed_ram_percent : 100;
  const uint64_t least = conf.min_ram_mb << 20;
  const uint64_t max_ram = percent_of(node_mb, conf.max_ram_percent);
  auto bounded = [&](uint64_t bytes, uint64_t max) { return std::max(least, max ? std::min(bytes, max) : bytes); };
  out.hard_bytes = allocated_mb ? bounded(percent_of(allocated_mb, ram_percent), max_ram) : max_ram;
  out.soft_bytes = allocated_mb ? std::min(out.hard_bytes, bounded(allocated_mb << 20, max_ram)) : 0;
  if (!conf.constrain_swap || !out.hard_bytes) return out;
  out.limit_swap = true;
  const uint64_t most = percent_of(node_mb, conf.max_swap_percent);
  uint64_t together = allocated_mb ? percent_of(allocated_mb, ram_percent + conf.allowed_swap_percent) : most;
  if (most) together = std::min(together, most);
  together = std::max(together, out.hard_bytes);
  if (conf.constrain_ram) out.swap_bytes = together - out.hard_bytes;
  else out.hard_bytes = together;
  return out;
}

std::vector<std::string> denied_files(const std::vector<GresDevices>& node, const std::vector<GresShare>& share) {
  std::set<std::string> all, own;
  const Bitmap gpus = gpus_of(share);
  for (const GresDevices& d : node) {
    if (d.name == "shard" || d.name == "mps") continue;  // their files are their GPUs'
    for (size_t i = 0; i < d.files.size(); ++i) {
      all.insert(d.files[i]);
      const size_t number = d.first_index + (d.count == 1 ? 0 : i);
      bool held = d.name == "gpu" && gpus.test(number);
      for (const GresShare& s : share) held = held || (s.name == d.name && s.devices.test(number));
      if (held) own.insert(d.files[i]);
    }
  }
  std::vector<std::string> out;
  std::ranges::set_difference(all, own, std::back_inserter(out));
  return out;
}

}  // namespace muster::slurmd
