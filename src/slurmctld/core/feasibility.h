// FeasibilityCache: whether a request could ever run, remembered by the request's shape: names, scripts and paths do not matter for that,
// so a user's thousandth submission costs the same on 4 nodes and on 10,000. Volatile; dropped when nodes or partitions change.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/result.h"
#include "model/cluster.h"
#include "sched/planner.h"

namespace muster::slurmctld {

class FeasibilityCache {
 public:
  Result<> check(const Cluster& cluster, const sched::Params& params, const RequestBody& request, uint32_t partition);

 private:
  static constexpr size_t kBound = 8192;  // shapes; beyond it the cache starts anew
  uint64_t epoch_ = 0;
  std::unordered_map<uint64_t, Result<>> known_;
};

}  // namespace muster::slurmctld
