// Nodes that slurm.conf does not have: how they come, by scontrol create or with a slurmd that describes its own (join_node.cc), and how
// scontrol delete ends them. scontrol(1) create, delete; guide dynamic_nodes; slurm.conf(5) MaxNodeCount.
#pragma once

#include <string>
#include <vector>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// The nodes of the line "NodeName=<names> Key=…", checked as a line of slurm.conf is; `dynamic` is set. The error names the key and the
// rule it breaks, or the State= of a line that says one.
Result<std::vector<NodeSpec>> read_node_line(const config::Config& config, const std::string& names,
                                             const std::vector<rpc::KeyValue>& keys);

// Numbers that no node has and that no job of the table, ended ones too, knows a node by; the lowest, so that bitmaps stay short where nodes
// come and go. Cost: O(nodes that jobs hold or held).
std::vector<NodeId> free_node_ids(const Cluster& cluster, size_t count);

// Adds the events that make these nodes part of the cluster, of its partitions and topologies. kInvalidNodeCount: more than MaxNodeCount;
// kInvalidNodeName: one is there already. Cost: O(nodes that jobs hold or held).
Result<> add_nodes(const View& view, std::vector<NodeSpec> specs, Events& out);
// The same for a dynamic node that has another definition now; no job may run there if its CPUs or devices differ.
Result<> redefine_node(const View& view, const Node& node, NodeSpec spec, Events& out);

Result<Decision<rpc::Messages>> create_nodes(const View& view, const rpc::UpdateNode& request);
Result<Decision<rpc::Messages>> delete_nodes(const View& view, const rpc::UpdateNode& request);

}  // namespace muster::slurmctld
