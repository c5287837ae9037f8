// --array=...%N: at most so many tasks of an array run at once. The limit bounds how many more tasks a pass may start, and holds for a task
// that came back into the queue. What helps: a task of the array ends. sbatch(1) --array. Cost: O(log arrays).
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
  // How many more tasks may start where so many have started since.
  uint32_t left(uint32_t started) const { return most - std::min(most, running + started); }
  // The limit as explain shows it; only where no more tasks may start.
  std::optional<LimitView> view() const;
};

}  // namespace muster::sched
