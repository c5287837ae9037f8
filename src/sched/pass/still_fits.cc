// still_fits: checks an item of a plan against the cluster of the moment.
#include "sched/planner.h"
#include "sched/request/request_shape.h"
#include "sched/rules/job_rule.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {

Result<> still_fits(const Cluster& cluster, const Params& params, const RequestBody& request, const StartItem& item, Time now,
                    uint32_t time_limit_min) {
  const Partition* partition = cluster.partitions.find(item.partition);
  if (!partition) return fail(Errc::kInvalidPartition);
  if (!item.allocation || item.allocation->nodes.empty()) return fail(Errc::kNodesBusy);
  const StartQuestion start{
      cluster, params, *partition, request, *item.allocation, now, item.time_limit_min.value_or(time_limit_min), item.reservation};
  MUSTER_TRY_VOID(let_start(start));
  Bitmap seen;
  const bool memory = handed_out(*partition, params).memory;
  for (const NodeShare& share : item.allocation->nodes) {
    const Node* node = cluster.nodes.find(share.node.value);
    if (!node || !node->spec) return fail(Errc::kInvalidNodeName);
    if (seen.test(share.node.value)) return busy(*node, "twice in the plan");
    seen.set(share.node.value);
    if (!partition->nodes.test(share.node.value)) return busy(*node, "no longer in the partition");
    MUSTER_TRY_VOID(let_have({start, *node, share, memory}));
  }
  for (uint32_t id : item.allocation->fenced)
    if (const Node* node = cluster.nodes.find(id))
      if (node->jobs_running + node->jobs_completing + node->fences > 0)
        return busy(*node, "in use, and the job wants its leaf for itself");
  return {};
}

}  // namespace muster::sched
