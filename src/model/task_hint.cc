#include "model/task_hint.h"

namespace muster {

Result<TaskHint> TaskHint::parse(std::string_view text) {
  using enum Kind;
  if (text == "compute_bound") return TaskHint{kComputeBound};
  if (text == "memory_bound") return TaskHint{kMemoryBound};
  if (text == "multithread") return TaskHint{kMultithread};
  if (text == "nomultithread") return TaskHint{kNoMultithread};
  return TaskHint{};
}

}  // namespace muster
