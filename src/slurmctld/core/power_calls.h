// PowerCalls: which programs a turn's changes of nodes call for: one start for all nodes of which the same is asked, by the same PowerAction;
// an order to each node instead where the action runs there. slurm.conf(5) PowerAction, Location.
#pragma once

#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class PowerCalls {
 public:
  void add(const event::NodeStateChanged& change);
  // A node that is to power itself down and is not connected is told nothing. Cost: O(nodes + their jobs).
  void take(const Cluster& cluster, const Indexes& indexes, const config::Config& config, std::vector<Effect>& out);

 private:
  std::vector<PowerNodes> calls_;  // in the order in which they were called for
};

}  // namespace muster::slurmctld
