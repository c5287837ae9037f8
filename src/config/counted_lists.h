// The lists of names with a number each: Licenses=matlab:4,ansys and PriorityWeightTRES=CPU=1000,GRES/gpu=3000. slurm.conf(5). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tres_name.h"

namespace muster::config {

// By name; a name without a count is one licence, of one that is given twice the last count holds.
using LicenseCounts = std::vector<std::pair<std::string, uint64_t>>;

struct TresPriority {
  TresName tres;
  int32_t weight = 0;  // negative weights are documented
  bool operator==(const TresPriority&) const = default;
};

// For each entry that makes no sense a sentence goes to `left_out`.
LicenseCounts parse_license_counts(std::string_view text, std::vector<std::string>& left_out);
std::vector<TresPriority> parse_tres_priorities(std::string_view text, std::vector<std::string>& left_out);

}  // namespace muster::config
