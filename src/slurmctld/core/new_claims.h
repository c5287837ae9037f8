// NewClaims: what is held for jobs that others make room for, and that a plan does not know of because it was made before. Cost: O(claims).
#pragma once

#include <algorithm>
#include <map>
#include <string>

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
      for (const LicenseShare& license : j->turns->claim->allocation->licenses) licenses_.emplace(license.name, id);
    }
  }
  // Of a heterogeneous job that is asked about all components, whose claim the first one has.
  bool keep_from(const sched::StartItem& item) const {
    return keep(item, item.job) || std::ranges::any_of(item.together, [&](const sched::StartItem& other) { return keep(other, item.job); });
  }

 private:
  bool keep(const sched::StartItem& item, JobId from) const {
    if (held_.empty() || !item.allocation) return false;
    for (const LicenseShare& license : item.allocation->licenses)
      for (auto [at, end] = licenses_.equal_range(license.name); at != end; ++at)
        if (at->second != from) return true;
    return std::ranges::any_of(item.allocation->nodes, [&](const NodeShare& share) {
      auto at = held_.find(share.node.value);
      return at != held_.end() && at->second != from;
    });
  }

  std::map<uint32_t, JobId> held_;
  std::multimap<std::string, JobId> licenses_;  // by name
};

}  // namespace muster::slurmctld
