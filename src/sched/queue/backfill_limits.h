// BackfillLimits: how much backfill does in one pass, and for whom it keeps places, as SchedulerParameters say. It counts; pass.cc asks.
// Nothing is limited unless the site says so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/params.h"

namespace muster::sched {

class BackfillLimits {
 public:
  BackfillLimits(const BackfillRules& rules, Time now) : rules_(rules), now_(now) {}

  // Asked about a job behind one that waits. Returns the setting that keeps backfill from the job, "bf_max_job_user=3"; if none does,
  // counts the job and returns "". A job of several partitions is held back by a partition's limit only where all its partitions are at it.
  // association: the job's number in AccountDirectory; one that has none is held back by no limit of associations.
  std::string kept_from(Uid user, uint32_t association, const std::vector<uint32_t>& partitions);

  // Whether a place is kept for a waiting job, so that others wait for it; counts the job if so. `least_priority`: MinPrioThreshold of the
  // job's QOS, in the place of bf_min_prio_reserve.
  bool keeps_place(Time eligible, uint32_t priority, const std::vector<uint32_t>& partitions, std::optional<uint64_t> least_priority);

  // Whether a place begins so late that it is told but not kept.
  bool beyond_window(Time start) const { return rules_.window_min && start > now_ + minutes(rules_.window_min); }

  void started() { ++starts_; }  // a job started before others of more priority

 private:
  const BackfillRules& rules_;
  const Time now_;
  uint32_t tests_ = 0, starts_ = 0;
  std::map<uint32_t, uint32_t> by_user_, by_association_, by_partition_, kept_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_user_partition_;
};

}  // namespace muster::sched
