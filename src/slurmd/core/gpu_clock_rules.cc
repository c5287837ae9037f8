#include "slurmd/core/gpu_clock_rules.h"

namespace muster::slurmd {
namespace {

// The files of GPUs that the step holds whole: a share of a GPU (shard, mps) does not set the clocks of its other users.
std::vector<std::string> files_of(const std::vector<GresDevices>& node, const std::vector<GresShare>& share) {
  std::vector<std::string> out;
  for (const GresShare& s : share) {
    if (s.name != "gpu") continue;
    for (const GresDevices& d : node)
      for (uint64_t i = 0; d.name == "gpu" && i < d.count; ++i)
        if (s.devices.test(d.first_index + i) && !d.files.empty()) out.push_back(d.files[d.files.size() == d.count ? i : 0]);
  }
  return out;
}

}  // namespace

GpuClockOrder gpu_clock_order(const TresFrequencyText& asked, const Parsed<GpuFrequencyWish>& site, const std::vector<GresDevices>& node,
                              const std::vector<GresShare>& share) {
  GpuClockOrder out;
  out.by_site = asked.empty();
  if (out.by_site && site.empty()) return {};
  out.files = files_of(node, share);
  if (out.by_site) {
    if (site.parsed() && !out.files.empty()) out.wish = site.value();
    return out;
  }
  const std::string note = "slurmstepd: error: --gpu-freq=" + std::string(TresFrequency::of_gpu(asked.text())) + ": ";
  if (!asked.parsed()) out.note = note + asked.parsed().error().hint;
  else if (out.files.empty()) out.note = note + "the step holds no GPU of its own";
  else out.wish = asked->gpu;
  return out;
}

}  // namespace muster::slurmd
