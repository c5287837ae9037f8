#include "model/clock_choice.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace muster {

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
