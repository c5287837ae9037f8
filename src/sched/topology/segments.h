// segments_of: into which segments (--segment) an allocation falls in a block topology. A segment's nodes are within one block of the
// smallest size that has room for it (topology_block.cc); where such a block has several segments, its nodes are dealt out in the order
// of their numbers. Cost: O(nodes + nodes of the topology).
#pragma once

#include <cstdint>
#include <vector>

#include "model/resources.h"
#include "model/topology.h"

namespace muster::sched {

// For each node of the allocation its segment, counted from 0. One segment: no block topology (null is flat), no size, or no more nodes
// than that.
std::vector<uint32_t> segments_of(const Topology* topology, const Allocation& allocation, uint32_t size);

// How many segments that many nodes make, where whole segments are asked for.
uint32_t segments_in(const Topology* topology, uint32_t nodes, uint32_t size);

}  // namespace muster::sched
