// PlannedNodes: the nodes that backfill keeps for jobs that wait, each with the earliest promise on it. sinfo(1) PLANNED; guide sched_config.
//
// A full pass makes it anew, for it knows all promises; it holds until the next one. Whether a node is shown so is asked of the state of the
// moment: it has something free, and the job that it is kept for still waits. So a promise that is over leaves no mark, and no event is needed.
//
// Cost: add() O(nodes of the promise), the rest O(1); 8 bytes a promise and 4 a node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/cluster.h"

namespace muster::sched {

class PlannedNodes {
 public:
  struct Promise {
    JobId job{};
    Time start{};
  };
  void add(JobId job, Time start, std::span<const uint32_t> nodes);
  // The promise for which the node is kept now; null: none, or nothing of the node is free to be kept.
  const Promise* kept(const Cluster& cluster, const Node& node) const;
  // kNodePlanned or nothing, to be shown with the node's own flags.
  uint32_t flag(const Cluster& cluster, const Node& node) const { return kept(cluster, node) ? kNodePlanned : 0u; }

 private:
  std::vector<Promise> promises_;
  std::vector<uint32_t> first_;  // by node: which of them is the earliest, counted from 1; 0: none
};
using PlannedNodesPtr = std::shared_ptr<const PlannedNodes>;

}  // namespace muster::sched
