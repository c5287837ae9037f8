#include "model/crontab.h"

#include <algorithm>

namespace muster {

std::string with_lines_disabled(std::string_view text, uint32_t first, uint32_t last) {
  constexpr std::string_view kMark = "#DISABLED: ";
  std::string out;
  uint32_t number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const bool blank = line.find_first_not_of(" \t\r\n") == line.npos;
    if (number >= first && number <= last && !blank && !line.starts_with(kMark)) out += kMark;
    out += line;
    at = end;
  }
  return out;
}

}  // namespace muster
