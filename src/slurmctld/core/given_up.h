// What stays of a job's state when it gives up nodes while it runs: sets and steps that name its nodes by their index in the allocation.
// `place` has the index now for each index before, or kGivenUp. Cost: O(nodes + steps).
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.h"
#include "model/job.h"

namespace muster::slurmctld {

inline constexpr uint32_t kGivenUp = 0xffffffffu;

// The nodes of a set that stay.
Bitmap moved(const Bitmap& before, const std::vector<uint32_t>& place);
// Removes the steps' parts on nodes that were given up, and a step with the last of its parts.
void move_steps(Job& job, const std::vector<uint32_t>& place);

}  // namespace muster::slurmctld
