// Whoever makes room is needed for it, and is gone before its place is another's.
#include "sim/check_preempt.h"

#include <algorithm>

#include "slurmctld/core/node_use.h"

namespace muster::sim {

namespace {

std::string about(JobId id) { return "job " + std::to_string(id.value); }

// Without any one of the victims, the others being gone, the claim would not fit.
std::string check_claim(const Cluster& state, const sched::Params& params, const event::JobClaimed& claimed) {
  const Job* job = state.jobs.find(claimed.job.value);
  if (!job || !claimed.claim->allocation) return {};
  if (claimed.claim->victims.empty()) return about(claimed.job) + ": a claim without victims";
  const sched::StartItem item{
      .job = claimed.job, .array_task = claimed.array_task, .partition = claimed.claim->partition, .allocation = claimed.claim->allocation};
  auto fits_without = [&](JobId kept) {
    Cluster c = state;
    slurmctld::NodeUse use(c);
    for (JobId id : claimed.claim->victims) {
      const Job* v = state.jobs.find(id.value);
      if (id == kept || !v || !v->allocation) continue;
      for (const NodeShare& share : v->allocation->nodes) use.release(*v, share, false, claimed.claim->since);
      c.count_licenses(*v, false);
    }
    return sched::still_fits(c, params, *job->request, item, claimed.claim->since, job->time_limit_min).has_value();
  };
  for (JobId id : claimed.claim->victims) {
    const Job* v = state.jobs.find(id.value);
    if (!v || v->pending() || v->finished()) return about(claimed.job) + ": its victim " + std::to_string(id.value) + " holds nothing";
    if (fits_without(id)) return about(claimed.job) + ": its victim " + std::to_string(id.value) + " is needless";
  }
  return fits_without(JobId()) ? "" : about(claimed.job) + ": it does not fit although all of its victims are gone";
}

std::string check_victims_gone(const Cluster& state, const event::JobStarted& started) {
  const Job* job = state.jobs.find(started.job.value);
  if (!job || !job->turns->claim || !started.allocation) return {};
  for (JobId id : job->turns->claim->victims) {
    const Job* v = state.jobs.find(id.value);
    if (!v || v->run->preempted_by != job->id || !v->holds_nodes()) continue;
    for (size_t i = 0; i < v->allocation->nodes.size(); ++i) {
      const NodeShare& theirs = v->allocation->nodes[i];
      if (v->finished() && !v->run->releasing.test(i)) continue;
      const auto at = std::ranges::find(started.allocation->nodes, theirs.node, &NodeShare::node);
      if (at != started.allocation->nodes.end() && at->cpus.intersects(theirs.cpus))
        return about(job->id) + " starts on CPUs of job " + std::to_string(id.value) + ", which is not gone";
    }
  }
  return {};
}

std::string check_shadow(const Cluster& state, const event::JobSuspended& e) {
  if (e.resumed || e.cause != SuspendCause::kPreempted) return {};
  const Job* by = state.jobs.find(e.by.value);  // it starts in the same turn, or runs
  return by && by->finished() ? about(e.job) + " is suspended for a job that is over" : std::string();
}

}  // namespace

std::string preemption_problem(const Cluster& state, const sched::Params& params, const Event& event) {
  if (auto* c = std::get_if<event::JobClaimed>(&event)) return c->claim ? check_claim(state, params, *c) : std::string();
  if (auto* s = std::get_if<event::JobStarted>(&event)) return check_victims_gone(state, *s);
  if (auto* u = std::get_if<event::JobSuspended>(&event)) return check_shadow(state, *u);
  return {};
}

}  // namespace muster::sim
