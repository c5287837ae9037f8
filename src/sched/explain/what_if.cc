#include "sched/explain/what_if.h"

#include <algorithm>

#include "sched/rules/eligibility.h"

namespace muster::sched {
namespace {

// The position of a job in the queue: PlanPass meets it at the highest tier of its partitions.
struct Place {
  bool reserved = false;
  uint32_t tier = 0, priority = 0, id = 0;
  bool operator<(const Place& o) const {
    if (reserved != o.reserved) return reserved;
    if (tier != o.tier) return tier > o.tier;
    return priority != o.priority ? priority > o.priority : id < o.id;
  }
};

Place place_of(const Cluster& cluster, const PriorityRule& rule, const Job& job) {
  Place out{!job.request->reservation.empty(), 0, rule.of(job), job.id.value};
  for (uint32_t p : partitions_of(cluster, job))
    if (const Partition* partition = cluster.partitions.find(p)) out.tier = std::max(out.tier, partition->priority_tier);
  return out;
}

}  // namespace

WhatIf::WhatIf(const Cluster& cluster, const Params& params, Time now, const Job& job)
    : before_(cluster), params_(params), now_(now), gate_(Gate::make(before_, params_, now_)), held_(cluster, params) {
  const PriorityRule rule(cluster, params.priority, now);
  const Place mine = place_of(cluster, rule, job);
  std::vector<uint32_t> drop;
  std::vector<Place> before;
  cluster.jobs.for_each([&](uint32_t id, const Job& other) {
    if (!other.pending()) return;
    const Place theirs = place_of(cluster, rule, other);
    if (id == job.id.value || mine < theirs) drop.push_back(id);
    else if (not_eligible(other, now).reason == Reason::kNone) before.push_back(theirs);
  });
  std::sort(before.begin(), before.end());
  for (const Place& p : before) ahead_.push_back(JobId(p.id));
  for (uint32_t id : drop) before_.jobs.erase(id);
  params_.backfill = true;
  params_.bf.max_test = params_.bf.max_test ? std::min(params_.bf.max_test, kMaxAhead) : kMaxAhead;
  nodes_.update(before_.nodes, params_);
  nodes_.reserve(before_, params_, now_);
  pending_.update(before_, params_, now_);
  if (held_.counts())
    for (const auto& [number, r] : pending_.running())
      if (!r.finished) held_.add({*r.allocation});
  pass_ = std::make_unique<PlanPass>(before_, params_, now_, Pass::kFull, nodes_, pending_);
  pass_->run();
}

WhatIf::~WhatIf() = default;

bool WhatIf::promised(uint32_t node, const RequestClass& c) {
  const NodeFree free{nodes_.units_free(node), nodes_.mem_free(node), nodes_.gres_free(node)};
  if (count_tasks(c.shape, nodes_.kind(node), free) == kNoTasks && !c.shape.oversubscribe) return true;
  const NodeFilter& filter = pass_->promises();
  return filter.promised().test(node) && filter.tasks(node, c, 1) == kNoTasks;
}

Result<Planner::Forecast> WhatIf::forecast_in(const RequestBody& request, uint32_t partition, uint32_t time_limit_min) {
  const Partition& definition = before_.partitions.at(partition);
  MUSTER_TRY(shape, make_shape(request, definition, params_));
  RequestClass asked;
  asked.shape = std::move(shape);
  asked.partition = partition;
  asked.uid = request.uid;
  asked.time_limit_min = time_limit_min;
  asked.warned = params_.preempt.notice(request);
  Result<Planner::Forecast> best = fail(Errc::kRequestedPartConfigUnavailable);
  for (uint32_t reservation : pending_.reservations_for(before_, request, partition)) {
    asked.reservation = reservation;
    auto got = forecast_class(request, asked);
    if (!best || (got && got->start < best->start)) best = std::move(got);
  }
  return best;
}

Result<Planner::Forecast> WhatIf::forecast_class(const RequestBody& request, const RequestClass& c) {
  const Partition& p = before_.partitions.at(c.partition);
  Grant grant;
  if (Hold hold = first_to_hold(rules_concerning(c, p, params_) & ~rules_foreseen(),
                                {before_, params_, p, request, c, nullptr, gate_.get()}, held(), grant))
    return fail(Errc::kRequestedPartConfigUnavailable, std::string(reason_name(hold.reason)));
  return pass_->forecast(request, c);
}

Result<Planner::Forecast> WhatIf::forecast(const RequestBody& request, const std::vector<uint32_t>& partitions, uint32_t time_limit_min) {
  Result<Planner::Forecast> best = fail(Errc::kRequestedPartConfigUnavailable);
  for (uint32_t partition : partitions) {
    if (!before_.partitions.contains(partition)) continue;
    Result<Planner::Forecast> got = forecast_in(request, partition, time_limit_min);
    if (!best || (got && got->start < best->start)) best = std::move(got);
  }
  return best;
}

}  // namespace muster::sched
