// Usage sums: what jobs have used, summed up from the events of their starts and ends, as it decays. At least so much was used: what is not sure
// (from before accounts were changed, or a job came to be another's) is left out. The checker of limits on minutes asks it; nothing here asks
// the usage book. Guides fair_tree, resource_limits.
//
// Cost: O(1) an event, O(runs) a question.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "sim/limit_sums.h"

namespace muster::sim {

class UsageSums {
 public:
  explicit UsageSums(Duration half_life) : half_life_(half_life) {}
  void take(const Event& event, const Cluster& before);
  // Minutes that those whom the limit bounds had used by then: of a TRES, or with an empty name minutes that their jobs ran.
  double minutes(const LimitSums& counts, std::string_view tres, Time by) const;
  bool empty() const { return runs_.empty() && open_.empty(); }

 private:
  struct Run {
    uint32_t association = 0, partition = 0;
    RequestBodyPtr request;
    AllocationPtr allocation;
    Time from{}, until = kTimeInfinite;
  };
  void close(JobId job, Time at, bool stays);
  void reopen(JobId job, Time at, const AllocationPtr& less);
  double seconds_of(const Run& run, Time by) const;

  Duration half_life_;
  std::map<JobId, Run> open_;   // jobs that run
  std::map<JobId, Run> still_;  // suspended
  std::vector<Run> runs_;       // over
};

}  // namespace muster::sim
