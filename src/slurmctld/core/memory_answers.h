// MemoryAnswers: what the nodes of a job with --mem-update have said of its memory use there, until all of them have. This is not in the
// log: a controller that is started again asks again. A node speaks for itself alone, and its word counts only where it was asked for.
// Cost: O(log n) a call, and told_by_all() O(nodes of the job).
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "model/job.h"

namespace muster::slurmctld {

class MemoryAnswers {
 public:
  static constexpr Duration kAskAgain = seconds(10);  // those that have not answered

  // The job's nodes are asked now; false if that was so a moment ago.
  bool ask(const Job& job, Time now) {
    Asked& asked = asked_[job.id];
    if (asked.generation != job.restarts) asked = {};
    if (asked.again != kTimeUnset && asked.again > now) return false;
    asked.generation = job.restarts;
    asked.again = now + kAskAgain;
    return true;
  }
  void forget(JobId job) { asked_.erase(job); }
  void clear() { asked_.clear(); }

  // `used`: none where the node, which is one of the job's, cannot tell.
  void told(const Job& job, NodeId node, std::optional<Bytes> used) {
    const auto at = asked_.find(job.id);
    if (at != asked_.end() && at->second.generation == job.restarts) at->second.told.emplace(node, used);
  }
  bool has_told(JobId job, NodeId node) const {
    const auto at = asked_.find(job);
    return at != asked_.end() && at->second.told.contains(node);
  }
  bool told_by_all(const Job& job) const {
    return std::ranges::all_of(job.allocation->nodes, [&](const NodeShare& share) { return has_told(job.id, share.node); });
  }
  // What the node of the job uses that uses most, once all have told; none if one of them cannot tell.
  std::optional<Bytes> most_used(const Job& job) const {
    std::optional<Bytes> most = Bytes(0);
    for (const NodeShare& share : job.allocation->nodes) {
      const std::optional<Bytes> used = asked_.at(job.id).told.at(share.node);
      most = most && used ? std::optional(std::max(*most, *used)) : std::nullopt;
    }
    return most;
  }

 private:
  struct Asked {
    uint32_t generation = 0;
    Time again{};
    std::map<NodeId, std::optional<Bytes>> told;
  };
  std::map<JobId, Asked> asked_;
};

}  // namespace muster::slurmctld
