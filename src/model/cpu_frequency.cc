#include "model/cpu_frequency.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kNames[] = {"low", "medium", "high", "highm1"};
constexpr std::string_view kGovernors[] = {"conservative", "ondemand", "performance", "powersave", "schedutil", "userspace"};

bool is_name(std::string_view text) {
  return std::ranges::any_of(kNames, [&](std::string_view n) { return n == text; });
}
bool is_governor(std::string_view text) {
  return std::ranges::any_of(kGovernors, [&](std::string_view n) { return n == text; });
}
bool is_frequency(std::string_view text) { return is_name(text) || parse_number<uint32_t>(text, 1).has_value(); }

}  // namespace

Result<CpuFrequencyWish> CpuFrequencyWish::parse(std::string_view text) {
  std::string lower = to_lower(text);
  auto wrong = [&] { return fail(Errc::kInvalidArgument, "\"" + std::string(text) + "\" is no CPU frequency"); };
  CpuFrequencyWish out;
  size_t colon = lower.find(':');
  std::string range = lower.substr(0, colon);
  if (colon != std::string::npos) out.governor = lower.substr(colon + 1);
  if (colon == std::string::npos && is_governor(range)) {
    out.governor = range;
    return out;
  }
  size_t dash = range.find('-');
  out.low = range.substr(0, dash);
  if (dash != std::string::npos) out.high = range.substr(dash + 1);
  bool good = is_frequency(out.low) && (dash == std::string::npos || is_frequency(out.high)) &&
              (colon == std::string::npos || is_governor(out.governor));
  if (!good) return wrong();
  return out;
}

std::string cpu_frequency_text(const CpuFrequencyWish& wish) {
  if (wish.low.empty()) return wish.governor;
  return wish.low + (wish.high.empty() ? "" : "-" + wish.high) + (wish.governor.empty() ? "" : ":" + wish.governor);
}

}  // namespace muster
