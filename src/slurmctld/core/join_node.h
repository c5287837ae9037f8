// Which FUTURE node a machine is to become that asks with a token (slurmd -F; docs/adr/0019). Its certificate binds it to that name before it joins:
// choosing changes nothing. What happens when a slurmd joins is join_node.cc's.
#pragma once

#include <functional>
#include <string>

#include "config/slurm_conf.h"
#include "model/cluster.h"
#include "model/join_rpc.h"

namespace muster::slurmctld {

// Which names are for a machine that had them before, and which of them also for one that comes as a new one.
struct FutureNames {
  std::function<bool(const std::string&node)> may_have, is_free;
};

// The node that the machine had before, by its hostname, else the first that fits it. kInvalidNodeName: there is none; kInvalidArgument: what the
// machine says of itself is no NodeName line. O(nodes).
Result<std::string> choose_future(const Cluster& cluster, const config::Config& config, const rpc::JoinNode& machine,
                                  const FutureNames& names);

}  // namespace muster::slurmctld
