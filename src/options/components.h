// Components of heterogeneous jobs on command lines and in scripts: which options of one component hold for those after it, and which
// components an expression of --het-group names. guide heterogeneous_jobs; srun(1). Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

// Whether what one component says of the option counts for those after it, unless they say otherwise. Cost: O(log of the list).
bool is_handed_on(std::string_view option);

// "0", "0,4", "1,3-5": numbers of components, ascending, each once.
Result<std::vector<uint32_t>> parse_het_group(std::string_view expression);

}  // namespace muster
