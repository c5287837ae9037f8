#include "sim/queue_order.h"

#include <algorithm>

namespace muster::sim {

std::vector<const Partition*> asked_partitions(const Cluster& cluster, const Job& job) {
  std::vector<const Partition*> out;
  for (const std::string& name : job.request->partitions)
    if (const Partition* p = cluster.partition(name)) out.push_back(p);
  if (out.empty())
    if (const Partition* p = cluster.partitions.find(job.partition)) out.push_back(p);
  return out;
}

Turn turn_of(const Cluster& cluster, const Job& job) {
  uint32_t tier = 0;
  for (const Partition* p : asked_partitions(cluster, job)) tier = std::max(tier, p->priority_tier);
  return {tier, job.priority, ~job.id.value};
}

bool waits_for_room(Reason r) {
  using enum Reason;
  return r == kResources || r == kPriority || r == kReqNodeNotAvail || r == kNoTopologyUnit || r == kBadConstraints;
}

}  // namespace muster::sim
