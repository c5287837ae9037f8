// The topologies as the cluster has them: those of the files, with NodeIds; over them comes what scontrol update node Topology= and dynamic
// nodes say.
#include <algorithm>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

void configure_topology(const View& view, const std::vector<NodeId>& ids, Events& out) {
  Topologies all = view.settings.loaded->topology.topologies;
  for (Topology& t : all.all)
    for (TopologyUnit& u : t.units) {
      for (uint32_t& n : u.nodes)
        if (n != kNoNode) n = ids[n].value;
      if (t.kind == TopologyKind::kTree || t.kind == TopologyKind::kBlock) std::sort(u.nodes.begin(), u.nodes.end());
    }
  view.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    // A place that the new files do not have leaves the node where they put it.
    if (n.topology) (void)place_node(all, id, *n.topology);
    else if (n.spec->dynamic && !n.spec->topology.empty()) (void)place_node(all, id, n.spec->topology);
  });
  const bool flat = all.all.empty();
  if (flat ? !view.cluster.topologies : view.cluster.topologies && *view.cluster.topologies == all) return;
  out.push_back(event::TopologyDefined{flat ? nullptr : std::make_shared<const Topologies>(std::move(all))});
}

TopologyAddress address_of(const Cluster& cluster, const Job& job, size_t index) {
  const Partition* p = cluster.partitions.find(job.partition);
  const Node* node = cluster.nodes.find(job.allocation->nodes[index].node.value);
  if (!p || !node || !cluster.topologies) return {};
  return topology_address(cluster.topologies->of(*p), node->id.value, node->spec->name);
}

}  // namespace muster::slurmctld
