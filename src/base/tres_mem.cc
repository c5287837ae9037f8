#include "base/tres_mem.h"

#include "base/text.h"

namespace muster {

std::string format_tres_mem(uint64_t mb) {
  if (mb == 0) return "0";
  constexpr std::string_view units = "MGTPE";
  size_t unit = 0;
  for (; unit + 1 < units.size() && mb >= 1024 && mb % 1024 == 0; ++unit) mb /= 1024;
  bool half = mb >= 1024 && mb % 512 == 0 && unit + 1 < units.size();
  return half ? std::to_string(mb / 1024) + ".50" + units[unit + 1] : std::to_string(mb) + units[unit];
}

uint64_t parse_tres_mem_mb(std::string_view text) {
  size_t dot = text.find(".50");
  if (dot == text.npos) return parse_mem_mb(text).value_or(0);
  std::string whole(text.substr(0, dot)), unit(text.substr(dot + 3));
  const auto units = parse_mem_mb(whole + unit), one = parse_mem_mb("1" + unit);
  return units && one ? *units + *one / 2 : 0;
}

}  // namespace muster
