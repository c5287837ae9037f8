// WhatIf: plans the queue ahead of one job, and says when a request in that job's place would start. The jobs behind it are left out: they
// never delay it. Answers are those of a full pass (planner.h).
//
// Cost: one full pass over the jobs ahead, then that of Profile::earliest for each question. With more than kMaxAhead jobs ahead only the
// first of them are planned: planned_all() is false, and forecasts are then too early.
#pragma once

#include <memory>
#include <vector>

#include "sched/pass/pass.h"

namespace muster::sched {

class WhatIf {
 public:
  static constexpr uint32_t kMaxAhead = 4000;

  WhatIf(const Cluster& cluster, const Params& params, Time now, const Job& job);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // The jobs that could start and stand before this one, in the order of the queue.
  const std::vector<JobId>& ahead() const { return ahead_; }
  bool planned_all() const { return ahead_.size() <= kMaxAhead; }

  // The earliest start over the partitions. The error says what bars it, or that no start is within sight.
  Result<Planner::Forecast> forecast(const RequestBody& request, const std::vector<uint32_t>& partitions, uint32_t time_limit_min);
  // How much the running jobs hold of what rules count.
  const Held& held() const { return held_.held(); }
  // Whether a node on which a task of the class fits now is kept for jobs ahead.
  bool promised(uint32_t node, const RequestClass& c);

 private:
  Result<Planner::Forecast> forecast_in(const RequestBody& request, uint32_t partition, uint32_t time_limit_min);
  Result<Planner::Forecast> forecast_class(const RequestBody& request, const RequestClass& c);

  Cluster before_;
  Params params_;
  const Time now_;
  std::unique_ptr<Gate> gate_;
  std::vector<JobId> ahead_;
  Availability nodes_;
  Pending pending_;
  HeldCounter held_;
  std::unique_ptr<PlanPass> pass_;
};

}  // namespace muster::sched
