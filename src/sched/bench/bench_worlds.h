// The machines that the benches of this folder place jobs on.
#pragma once

#include "sched/testing.h"

namespace muster::sched {

inline const Time kBenchNow = from_unix(1'000'020);

inline Params bench_site() {
  Params p;
  p.allocate_cores = true;
  return p;
}

inline ClusterBuilder bench_nodes(uint32_t nodes) { return a_cluster().nodes(nodes).layout(2, 32, 1).memory(256'000); }

// A tree of three levels: leaves of 32 nodes, 16 leaves to a switch, one root above all.
inline void give_three_levels(Cluster& cluster, uint32_t nodes) {
  Topology topology{.name = "default", .kind = TopologyKind::kTree};
  TopologyUnit root{.name = "root"};
  const uint32_t leaves = (nodes + 31) / 32;
  for (uint32_t l = 0; l < leaves; ++l) {
    TopologyUnit leaf{.name = "l" + std::to_string(l)};
    for (uint32_t i = l * 32; i < std::min(nodes, l * 32 + 32); ++i) leaf.nodes.push_back(i);
    topology.units.push_back(std::move(leaf));
  }
  for (uint32_t m = 0; m * 16 < leaves; ++m) {
    TopologyUnit mid{.name = "m" + std::to_string(m)};
    for (uint32_t l = m * 16; l < std::min(leaves, m * 16 + 16); ++l) mid.children.push_back(l);
    root.children.push_back(static_cast<uint32_t>(topology.units.size()));
    topology.units.push_back(std::move(mid));
  }
  topology.units.push_back(std::move(root));
  Topologies all;
  all.all.push_back(std::move(topology));
  cluster.topologies = std::make_shared<const Topologies>(std::move(all));
}

}  // namespace muster::sched
