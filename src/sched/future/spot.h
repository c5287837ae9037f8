// Spot: a place in the future, when and where a job would start.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/fit/gres_choice.h"
#include "sched/future/timeline.h"

namespace muster::sched {

struct Spot {
  Slot slot = kNever;
  struct Part {
    uint32_t node = 0, tasks = 0;
    JobGres job_gres;
  };
  std::vector<Part> parts;  // in rank order
};

}  // namespace muster::sched
