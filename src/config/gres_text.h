// Gres= of a NodeName line: "gpu:a100:8(S:0-1),mps:100,bandwidth:lustre:no_consume:4G" as values.
// slurm.conf(5) Gres. Pure; cost O(text); at most kMaxGresItems items.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::config {

inline constexpr size_t kMaxGresItems = 256;

struct GresItem {
  std::string name;  // "gpu"
  std::string type;  // "a100"; "" = none given
  uint64_t count = 1;
  bool no_consume = false;
  std::string suffix;  // what stood in parentheses, "S:0-1"
  bool operator==(const GresItem&) const = default;
};

Result<std::vector<GresItem>> parse_gres(std::string_view text);
std::string print_gres(const std::vector<GresItem>& items);  // parse_gres of it gives the items again

}  // namespace muster::config
