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

GpuClockOrder gpu_clock_order(const std::string& asked, const std::string& site, const std::vector<GresDevices>& node,
                              const std::vector<GresShare>& share) {
  constexpr std::string_view kKind = "gpu:";
  std::string text = asked.starts_with(kKind) ? asked.substr(kKind.size()) : asked;
  if (text.empty()) text = site;
  if (text.empty()) return {};
  GpuClockOrder out;
  out.files = files_of(node, share);
  out.by_site = asked.empty();
  auto wish = parse_gpu_frequency(text);
  if (!wish) {
    if (!out.by_site) out.note = "slurmstepd: error: --gpu-freq=" + text + ": " + wish.error().hint;
  } else if (!out.files.empty()) {
    out.wish = std::move(*wish);
  } else if (!out.by_site) {
    out.note = "slurmstepd: error: --gpu-freq=" + text + ": the step holds no GPU of its own";
  }
  return out;
}

}  // namespace muster::slurmd
