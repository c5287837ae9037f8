// `scontrol show topology` and `scontrol show topoconf`: the units of a topology, a line each, and all topologies in the form of
// topology.yaml. scontrol(1) SHOW. The lines of trees are those that Slurm 22.05 prints, the lines of blocks those of later releases. Pure;
// cost O(output).
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
  std::vector<std::string> nodes;  // only units that hold all of them, and the units above those
  size_t line_length = 0;          // longer lines are cut; 0 = they are not
};

// Errors name the topology, unit or node that does not exist.
Result<std::string> show_topology(const TopologyView& view, const TopologyWanted& wanted);
std::string show_topoconf(const TopologyView& view);

}  // namespace muster::fields
