// NodeCensus: for one request in one partition, what keeps each node from serving it now, counted by cause, and when busy nodes will be
// free for it. Cost: O(nodes of the partition + shares of running jobs).
#pragma once

#include <vector>

#include "model/explanation.h"
#include "sched/explain/what_if.h"

namespace muster::sched {

struct Census {
  std::vector<NodesLeftOut> causes;  // those that occur, in the order of NodeCause; kFree always
  Bitmap busy;                       // held by jobs and wanted by this one
  uint32_t tasks_free = 0;           // room on the nodes that are free for it
};

// `nodes` must be as the cluster is, with no plans laid over it; `c` is resolved here.
Census take_census(const Cluster& cluster, Availability& nodes, const Pending& pending, const Params& params, RequestClass& c, Uid user,
                   WhatIf& queue);

}  // namespace muster::sched
