// Devices of nodes as scontrol prints them with -d: what a job holds there, what is in use, which cores are kept for GPUs. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/node.h"

namespace muster::slurmctld {

// What a job holds on one node: "gpu:h100:2(IDX:0-1)" for devices, "shard:6(6/10,0/10)" for shares, with what it holds of each GPU, and
// "nic(CNT:1)" for a GRES that has no devices behind it.
std::string gres_held_text(const std::vector<GresShare>& gres, const NodeSpec& node);
// GresUsed: everything that the node has, also what nobody holds, in the order of Gres=.
std::string gres_used_text(const Node& node);
// RestrictedCoresPerGPU: "1(0,4)"; "" = none.
std::string restricted_text(const Node& node);

}  // namespace muster::slurmctld
