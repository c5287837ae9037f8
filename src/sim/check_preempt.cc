// Whoever makes room is needed for it, and is gone before its place is another's.
#include "sim/check_preempt.h"

#include <algorithm>

#include "slurmctld/core/node_use.h"

namespace muster::sim {

namespace {

std::string about(JobId id) { return "job " + std::to_string(id.value); }

// Without any one of the victims, the others being gone, the claim would not fit.
std::string check_claim(const Cluster& state, const sched::Params& params, const event::JobClaimed& e) {
  const Job* j = state.jobs.find(e.job.value);
  if (!j || !e.claim->allocation) return {};
  if (e.claim->victims.empty()) return about(e.job) + ": a claim without victims";
  const sched::StartItem item{.job = e.job, .array_task = e.array_task, .partition = e.claim->partition, .allocation = e.claim->allocation};
  auto fits_without = [&](JobId kept) {
    Cluster c = state;
    slurmctld::NodeUse use(c);
    for (JobId id : e.claim->victims) {
      const Job* v = state.jobs.find(id.value);
      if (id == kept || !v || !v->allocation) continue;
      for (const NodeShare& share : v->allocation->nodes) use.release(*v, share, false, e.claim->since);
      c.count_licenses(*v, false);
    }
    return sched::still_fits(c, params, *j->request, item, e.claim->since, j->time_limit_min).has_value();
  };
  for (JobId id : e.claim->victims) {
    const Job* v = state.jobs.find(id.value);
    if (!v || v->pending() || v->finished()) return about(e.job) + ": its victim " + std::to_string(id.value) + " holds nothing";
    if (fits_without(id)) return about(e.job) + ": its victim " + std::to_string(id.value) + " is needless";
  }
  return fits_without(JobId()) ? "" : about(e.job) + ": it does not fit although all of its victims are gone";
}

std::string check_victims_gone(const Cluster& state, const event::JobStarted& e) {
  const Job* j = state.jobs.find(e.job.value);
  if (!j || !j->turns->claim || !e.allocation) return {};
  for (JobId id : j->turns->claim->victims) {
    const Job* v = state.jobs.find(id.value);
    if (!v || v->run->preempted_by != j->id || !v->holds_nodes()) continue;
    for (size_t i = 0; i < v->allocation->nodes.size(); ++i) {
      const NodeShare& theirs = v->allocation->nodes[i];
      if (v->finished() && !v->run->releasing.test(i)) continue;
      const auto at = std::ranges::find(e.allocation->nodes, theirs.node, &NodeShare::node);
      if (at != e.allocation->nodes.end() && at->cpus.intersects(theirs.cpus))
        return about(j->id) + " starts on CPUs of job " + std::to_string(id.value) + ", which is not gone";
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
