#include "model/gpu_frequency.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace muster {
namespace {

constexpr uint32_t kMaxMhz = 100'000;

bool is_clock(std::string_view value) {
  constexpr std::string_view kNames[] = {"low", "medium", "high", "highm1"};
  return std::ranges::find(kNames, value) != std::end(kNames) || parse_number<uint32_t>(value, 1, kMaxMhz);
}

}  // namespace

Result<GpuFrequencyWish> parse_gpu_frequency(std::string_view text) {
  GpuFrequencyWish out;
  for (std::string_view part : split(text, ',', true)) {
    if (iequals(part, "verbose")) {
      out.verbose = true;
      continue;
    }
    const bool memory = istarts_with(part, "memory=");
    std::string& clock = memory ? out.memory : out.gpu;
    const std::string value = to_lower(memory ? part.substr(7) : part);
    if (!is_clock(value))
      return fail(Errc::kInvalidArgument, {}, "\"" + std::string(part) + "\" is no frequency: low, medium, high, highm1 or MHz up to " + std::to_string(kMaxMhz));
    if (!clock.empty()) return fail(Errc::kInvalidArgument, {}, std::string(memory ? "memory" : "the GPU's frequency") + " is given twice");
    clock = value;
  }
  if (out.gpu.empty() && out.memory.empty() && !out.verbose) return fail(Errc::kInvalidArgument, {}, "nothing is asked for");
  return out;
}

uint32_t choose_clock(std::string_view wanted, std::span<const uint32_t> clocks) {
  std::vector<uint32_t> list(clocks.begin(), clocks.end());
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (list.empty()) return 0;
  if (wanted == "low") return list.front();
  if (wanted == "high") return list.back();
  if (wanted == "highm1") return list.size() > 1 ? list[list.size() - 2] : list.back();
  if (wanted == "medium") return list[(list.size() - 1) / 2];
  const uint32_t mhz = parse_number<uint32_t>(wanted).value_or(list.back());
  return *std::ranges::min_element(list, {}, [&](uint32_t c) { return c > mhz ? c - mhz : mhz - c; });
}

}  // namespace muster
