// OverOthers: what a job that is only asked about would have at the price of others. sbatch(1) --test-only; guide preempt.
#pragma once

#include <optional>

#include "sched/pass/pass.h"

namespace muster::sched {

class PlanPass::OverOthers {
 public:
  // Where others would make room, and when the last of them has gone at the latest; nobody is told to. A request has no priority yet, so
  // what depends on that is left out. Cost: a search for victims (preempt/victims.h) where the partition or the QOS may preempt.
  static std::optional<Planner::Forecast> forecast(PlanPass& pass, const RequestBody& request, const RequestClass& asked);
};

}  // namespace muster::sched
