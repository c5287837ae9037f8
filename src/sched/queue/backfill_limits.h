// BackfillLimits: how much backfill does in one pass, and for whom it keeps places, as SchedulerParameters say. It
// counts; pass.cc asks. Nothing is limited unless the site says so.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/params.h"

namespace muster::sched {

class BackfillLimits {
 public:
  BackfillLimits(const BackfillRules& rules, Time now) : rules_(rules), now_(now) {}

  // A job behind one that waits: the word that keeps backfill from it, "bf_max_job_user=3"; "" and counted if none
  // does. A job of several partitions is kept from it when it is in all of them.
  std::string kept_from(Uid user, const std::vector<uint32_t>& partitions);

  // Whether a waiting job has a place kept, so that others wait for it. Counts it if so.
  bool keeps_place(Time eligible, uint32_t priority, const std::vector<uint32_t>& partitions);

  // Places that begin so late are told, but not kept.
  bool beyond_window(Time start) const { return rules_.window_min && start > now_ + minutes(rules_.window_min); }

  void started() { ++starts_; }  // a job before others of more priority

 private:
  const BackfillRules& rules_;
  const Time now_;
  uint32_t tests_ = 0, starts_ = 0;
  std::map<uint32_t, uint32_t> by_user_, by_partition_, kept_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_user_partition_;
};

}  // namespace muster::sched
