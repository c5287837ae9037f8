// Whether a job in any of these classes, having found no place, may wait for nodes to be woken (max_powered_nodes). Behind such a job nobody wakes
// any, or small jobs would forever take what a large one waits for.
#pragma once

#include <algorithm>
#include <vector>

#include "sched/queue/pending.h"
#include "sched/rules/power_room.h"

namespace muster::sched {

inline bool wants_power(const Availability& nodes, Pending& pending, const std::vector<uint32_t>& classes) {
  return std::ranges::any_of(classes, [&](uint32_t id) { return waits_for_power({nodes, pending.classes()[id]->shape}); });
}

}  // namespace muster::sched
