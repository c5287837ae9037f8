// PlacementReport: where a job stands, as a value (model/explanation.h): the leaf switches, base blocks, rings or tori that its nodes are
// in, the lowest switch or aggregated block around all of them, its segments, and what led there. It is read off the allocation and the
// request; which other nodes were in use at that moment is not kept anywhere, and not claimed.
//
// Guide topology. Cost: O(nodes of the topology).
#pragma once

#include <string>

#include "model/cluster.h"
#include "model/explanation.h"

namespace muster::sched {

// An empty view for a job without nodes.
PlacementView placement_of(const Cluster& cluster, const Job& job);

// One word for `scontrol show job -d`: "kind=tree,switches=2,within=spine,leaf1=n[1-2],leaf2=n3"; "" where the topology is flat.
std::string placement_word(const Cluster& cluster, const Job& job);

}  // namespace muster::sched
