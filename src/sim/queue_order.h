// The order of the queue as the guide has it: the tier of the partition, then the priority, then the id. For checkers; where priorities move with
// time they do not stand in the job, and this order does not hold.
#pragma once

#include <tuple>
#include <vector>

#include "model/cluster.h"

namespace muster::sim {

// Those that the job asks for; it is looked at in the one of the highest tier first.
std::vector<const Partition*> asked_partitions(const Cluster& cluster, const Job& job);

using Turn = std::tuple<uint32_t, uint32_t, uint32_t>;  // the greater comes first
Turn turn_of(const Cluster& cluster, const Job& job);

// Whether a job waits for nodes, by its reason: others wait behind such a one.
bool waits_for_room(Reason reason);

}  // namespace muster::sim
