// `scontrol show topology` and `scontrol show topoconf`: the units of a topology, a line each, and all
// topologies in the form of topology.yaml. scontrol(1) SHOW; the lines are those of 22.05 (tree) and of what
// later releases print for blocks. Pure; cost O(output).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/topology.h"

namespace muster::fields {

struct TopologyView {
  const Topologies& topologies;
  const std::vector<std::string>& names;  // of nodes by id
};

struct TopologyWanted {
  std::string topology;            // "" = the default one
  std::string unit;                // a switch, block, ring or torus; "" = all
  std::vector<std::string> nodes;  // units that hold all of them, and those above
  size_t line_length = 0;          // longer lines are cut; 0 = they are not
};

// Errors name what there is none of.
Result<std::string> show_topology(const TopologyView& view, const TopologyWanted& wanted);
std::string show_topoconf(const TopologyView& view);

}  // namespace muster::fields
