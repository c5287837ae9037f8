// ArrayExtent: what a job array's --array says of all of its tasks, for SLURM_ARRAY_TASK_COUNT, _MIN, _MAX and _STEP. sbatch(1).
// Which tasks are still pending is no part of a request (model/array_spec.h). Cost of parse(): O(indices named), once for a request.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace muster {

struct ArrayExtent {
  uint32_t count = 0;  // 0: it is no array
  uint32_t min = 0, max = 0;
  uint32_t step = 1;  // between each and the next; 1 where these differ
  static Result<ArrayExtent> parse(std::string_view text);
};

}  // namespace muster
