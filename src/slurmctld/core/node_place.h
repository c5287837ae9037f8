// Where a node is (NodeAddr, NodeHostname) beyond what slurm.conf says: a cloud node's machine is another one each time. Its address is told by scontrol
// update or learned from its registration, kept while slurm.conf is read again, and forgotten when the node is powered down. slurm.conf(5)
// State=CLOUD, cloud_dns; guide power_save. Cost: O(1) each.
#pragma once

#include <optional>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// The node as it is after this registration; nullopt: where it was.
std::optional<NodeSpec> moved_by(const View& view, const Node& node, const node_rpc::Register& registration);

// Keeps in `spec`, which is the node's line of slurm.conf as read now, what was learned of its place.
void keep_place(const Node& known, const config::NodeConfig& line, NodeSpec& spec);

// Puts a node back to where slurm.conf says that it is, else to its own name.
void forget_place(const View& view, NodeSpec& spec);

// A cloud node of slurm.conf as its machine leaves it; nullopt: nothing was learned of its place.
std::optional<NodeSpec> without_machine(const View& view, const Node& node);

}  // namespace muster::slurmctld
