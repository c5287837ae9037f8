// TrackSlurmctldDown: the time that a cluster's controller was away is an event of the cluster, and what no job had meanwhile was down.
// slurmdbd.conf(5). Pure.
#pragma once

#include "model/accounting.h"
#include "model/accounts.h"

namespace muster::slurmdbd {

inline EventRecord controller_down(const ClusterRecord& cluster, Time since) {
  EventRecord event;
  event.cluster = cluster.name;
  event.started = since;
  event.state = NodeState::kDown;
  event.reason = "slurmctld disconnect";
  event.nodes = cluster.nodes;
  event.tres = cluster.tres;
  return event;
}

// Other events of a cluster say what it was made of.
inline bool is_controller_down(const EventRecord& event) { return event.node.empty() && event.state == NodeState::kDown; }

}  // namespace muster::slurmdbd
