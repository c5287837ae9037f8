// NewClaims: what is held for jobs that others make room for, and that a plan does not know of because it was made before. Cost: O(claims).
#pragma once

#include <algorithm>
#include <map>

#include "sched/plan.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

class NewClaims {
 public:
  // `position`: of the snapshot that the plan was made from.
  NewClaims(const Cluster& cluster, const Indexes& indexes, uint64_t position) {
    for (JobId id : indexes.claiming()) {
      const Job* j = cluster.jobs.find(id.value);
      if (!j || !j->turns->claim || j->turns->claim->position < position) continue;
      for (const NodeShare& share : j->turns->claim->allocation->nodes) held_[share.node.value] = id;
    }
  }
  bool keep_from(const sched::StartItem& item) const {
    if (held_.empty() || !item.allocation) return false;
    return std::ranges::any_of(item.allocation->nodes, [&](const NodeShare& share) {
      auto at = held_.find(share.node.value);
      return at != held_.end() && at->second != item.job;
    });
  }

 private:
  std::map<uint32_t, JobId> held_;
};

}  // namespace muster::slurmctld
