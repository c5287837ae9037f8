// What nodes tell of their NVLink fabrics (model/gpu_fabric.h) beside the blocks of the cluster's topologies: where the two contradict each
// other, and which blocks would fit. It is a proposal for an administrator to read: nothing here changes where jobs run, since a node that was
// broken into can tell anything. Pure; cost O(nodes + units).
#pragma once

#include <string>
#include <vector>

#include "model/rpc.h"
#include "muster/finding.h"

namespace muster::front {

struct Clique {
  GpuFabric fabric;
  std::vector<uint32_t> nodes;  // ids, ascending
};
std::vector<Clique> cliques_of(const rpc::TopologyAnswer& site);  // by their first nodes

// The site's topologies with a block for each clique: in its first topology of blocks, or in a new one named "nvlink". A clique takes
// over the first block that one of its nodes is in now and that no clique before it has taken. Nodes that tell nothing stay in their blocks. The sizes
// stay, too, if the first is what the smallest block has but for spares; else there is one size, that of the smallest block.
Topologies with_fabric_blocks(const rpc::TopologyAnswer& site);

// The text of the files, with comments that say where it is from.
std::string proposed_yaml(const rpc::TopologyAnswer& site);  // topology.yaml, with all of the site's topologies
std::string proposed_conf(const rpc::TopologyAnswer& site);  // topology.conf, the blocks alone

// For each topology of blocks: blocks of several cliques, and cliques that are not in one block. A clique of which no node is in the topology is
// none of its business. `topologies`: those that were looked at, "topology NAME".
struct FabricCheck {
  std::vector<Finding> findings;
  std::vector<std::string> topologies;
};
FabricCheck check_blocks(const rpc::TopologyAnswer& site);

}  // namespace muster::front
