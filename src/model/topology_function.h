// block{b1}, switchwith{n1} …: parts of node lists that name nodes by their place in a topology. Guide topology.
#pragma once

#include <optional>
#include <string_view>

#include "base/bitmap.h"
#include "model/topology.h"

namespace muster {

struct TopologyFunction {
  TopologyKind kind = TopologyKind::kFlat;
  bool with = false;  // the argument is a node, and its unit is meant; else the argument is the unit's name
};
// Reads "block", "switchwith" …; nullopt if the name is no such function.
std::optional<TopologyFunction> topology_function(std::string_view name);

// nodes_of_unit: the nodes of all units of that kind and name, over all topologies. nodes_beside: those of the lowest units that hold
// `node`. Cost: O(units + nodes).
Bitmap nodes_of_unit(const Topologies& all, TopologyKind kind, std::string_view unit);
Bitmap nodes_beside(const Topologies& all, TopologyKind kind, uint32_t node);

}  // namespace muster
