#include "cli/common/counted.h"

namespace muster::cli {

std::string counted(const std::vector<uint32_t>& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(numbers[i]);
    if (end - i > 1) out += "(x" + std::to_string(end - i) + ")";
    i = end;
  }
  return out;
}

}  // namespace muster::cli
