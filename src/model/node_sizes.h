// NodeSizes: the numbers of nodes that a job may have, where --nodes lists them: "1,3,5". sbatch(1) --nodes. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

struct NodeSizes {
  std::vector<uint32_t> counts;  // ascending; empty: the text has none

  // Errors: kInvalidNodeCount, with the part that is no count.
  static Result<NodeSizes> parse(std::string_view text);
};

}  // namespace muster
