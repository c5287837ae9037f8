// --array=...%N: so many tasks of an array run at once. It bounds how many more of the tasks may start, in a pass and for a task that
// came back into the queue. What helps: a task of the array ends. sbatch(1) --array. Cost: O(log arrays).
#pragma once

#include <optional>

#include "model/cluster.h"
#include "model/explanation.h"

namespace muster::sched {

struct ArrayLimit {
  uint32_t array = 0;  // id of the array; 0: the job is of none
  uint32_t most = kUnlimited32, running = 0;

  static ArrayLimit of(const Cluster& cluster, const Job& job);
  bool concerns() const { return array != 0; }
  // How many tasks more may start, so many having started since.
  uint32_t left(uint32_t started) const { return most - std::min(most, running + started); }
  // Where none may.
  std::optional<LimitView> view() const;
};

}  // namespace muster::sched
