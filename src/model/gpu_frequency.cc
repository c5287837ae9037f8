#include "model/gpu_frequency.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr uint32_t kMaxMhz = 100'000;

bool is_clock(std::string_view value) {
  constexpr std::string_view kNames[] = {"low", "medium", "high", "highm1"};
  return std::ranges::find(kNames, value) != std::end(kNames) || parse_number<uint32_t>(value, 1, kMaxMhz);
}

}  // namespace

Result<GpuFrequencyWish> GpuFrequencyWish::parse(std::string_view text) {
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
      return fail(Errc::kInvalidArgument, {},
                  "\"" + std::string(part) + "\" is no frequency: low, medium, high, highm1 or MHz up to " + std::to_string(kMaxMhz));
    if (!clock.empty()) return fail(Errc::kInvalidArgument, {}, std::string(memory ? "memory" : "the GPU's frequency") + " is given twice");
    clock = value;
  }
  if (out.gpu.empty() && out.memory.empty() && !out.verbose) return fail(Errc::kInvalidArgument, {}, "nothing is asked for");
  return out;
}

std::string_view TresFrequency::of_gpu(std::string_view text) {
  constexpr std::string_view kKind = "gpu:";
  return text.starts_with(kKind) ? text.substr(kKind.size()) : text;
}

Result<TresFrequency> TresFrequency::parse(std::string_view text) {
  MUSTER_TRY(gpu, GpuFrequencyWish::parse(of_gpu(text)));
  return TresFrequency{std::move(gpu)};
}

}  // namespace muster
