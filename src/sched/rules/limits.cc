// Limits of associations, QOS and users of a partition (MaxCPUsPerUser): asks sched/gate.h, which knows them. What helps: jobs that count
// for the limit end, and nobody foresees which; so a job that waits for a limit keeps no nodes and is promised no start.
#include "sched/gate.h"
#include "sched/request/least_wanted.h"
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Least least(const JobQuestion& q) { return q.least ? *q.least : least_wanted(q.asked.shape, q.partition, q.cluster); }

Gate::Question question(const JobQuestion& q) { return {q.request, q.partition, q.asked.time_limit_min, q.alike}; }

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  if (!q.gate) return {};
  Bar bar = q.gate->bars(question(q), least(q));
  return {bar.reason, std::move(bar.detail)};
}

std::optional<LimitUsed> limit(const JobQuestion& q, const Held&) {
  auto full = q.gate ? q.gate->full(question(q), least(q)) : std::nullopt;
  if (!full) return std::nullopt;
  LimitView view = full->view;
  return LimitUsed{std::move(view), [gate = q.gate, full = std::move(*full)](const Job& running) { return gate->uses(full, running); }};
}

Result<> at_start(const StartQuestion& q) {
  return within_limits_now(q.cluster, q.params, q.request, q.partition, {q.allocation, q.now, q.time_limit_min});
}

}  // namespace

constinit const JobRule kLimits{
    .name = "limits",
    .of = Of::kAmount,
    .by = HelpedBy::kJobsEnd,
    .concerns = [](const RequestClass&, const Partition& p, const Params& params) { return Gate::judges_limits(params, p); },
    .holds = holds,
    .at_start = at_start,
    .limit = limit};

}  // namespace muster::sched
