// Devices of nodes as scontrol prints them with -d: what a job holds there, what is in use, which cores are kept for GPUs. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/node.h"

namespace muster::slurmctld {

// Of a job on one node: "gpu:h100:2(IDX:0-1)", of shares what it holds of each GPU's "shard:6(6/10,0/10)", of what has no
// devices behind it "nic(CNT:1)".
std::string gres_held_text(const std::vector<GresShare>& gres, const NodeSpec& node);
// GresUsed: all that the node has, in the order of Gres=; what nobody holds, too.
std::string gres_used_text(const Node& node);
// RestrictedCoresPerGPU: "1(0,4)"; "" = none.
std::string restricted_text(const Node& node);

}  // namespace muster::slurmctld
