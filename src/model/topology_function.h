// block{b1}, switchwith{n1} …: parts of node lists that mean nodes by where they stand in a topology. Guide topology.
#pragma once

#include <optional>
#include <string_view>

#include "base/bitmap.h"
#include "model/topology.h"

namespace muster {

struct TopologyFunction {
  TopologyKind kind = TopologyKind::kFlat;
  bool with = false;  // of the unit that a node is in, not of one by its name
};
// "block", "switchwith" …; nullopt: none of them.
std::optional<TopologyFunction> topology_function(std::string_view name);

// The nodes of the units of that kind called so, over all topologies; of the lowest units that `node` is in. Cost: O(units +
// nodes).
Bitmap nodes_of_unit(const Topologies& all, TopologyKind kind, std::string_view unit);
Bitmap nodes_beside(const Topologies& all, TopologyKind kind, uint32_t node);

}  // namespace muster
