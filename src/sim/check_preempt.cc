// Whoever makes room is needed for it, and is gone before its place is another's. For a heterogeneous job nobody ends unless all of its
// components fit when the victims have gone.
#include "sim/check_preempt.h"

#include <algorithm>

#include "base/first_fit.h"
#include "slurmctld/core/node_use.h"

namespace muster::sim {

namespace {

std::string about(JobId id) { return "job " + std::to_string(id.value); }

// The parts of a claim: what the job gets, or each component.
std::vector<ClaimPart> parts_of(const event::JobClaimed& claimed) {
  const Claim& claim = *claimed.claim;
  return claim.parts.empty() ? std::vector<ClaimPart>{{claimed.job, claim.partition, claim.allocation}} : claim.parts;
}

// Whether all parts fit one beside the other, in one order or another.
bool all_fit(const Cluster& state, const sched::Params& params, const event::JobClaimed& claimed) {
  const std::vector<ClaimPart> parts = parts_of(claimed);
  return first_fit(parts.size(), [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    Cluster ahead = state;  // with the parts before
    slurmctld::NodeUse use(ahead);
    for (size_t i = 0; i < order.size(); ++i) {
      const ClaimPart& part = parts[order[i]];
      Job job = state.jobs.at(part.job.value);
      const sched::StartItem item{
          .job = part.job, .array_task = claimed.array_task, .partition = part.partition, .allocation = part.allocation};
      if (!sched::still_fits(ahead, params, *job.request, item, claimed.claim->since, job.time_limit_min)) return i;
      job.allocation = part.allocation;
      job.partition = part.partition;
      use.hold(job, claimed.claim->since);
      ahead.count_licenses(job, true);
    }
    return std::nullopt;
  });
}

// All components have their part, and what the claim holds is what they have together.
std::string check_parts(const Cluster& state, const event::JobClaimed& claimed) {
  const Job& job = state.jobs.at(claimed.job.value);
  const Claim& claim = *claimed.claim;
  if (claim.parts.size() != (job.het ? job.het.size : 0)) return about(claimed.job) + ": its claim is not for all components";
  if (job.het && job.het.leader != job.id) return about(claimed.job) + ": a claim at a component that does not lead";
  for (uint32_t i = 0; i < claim.parts.size(); ++i)
    if (claim.parts[i].job != job.het.component(i)) return about(claimed.job) + ": its claim is not for component " + std::to_string(i);
  return {};
}

// Without any one of the victims, the others being gone, the claim would not fit.
std::string check_claim(const Cluster& state, const sched::Params& params, const event::JobClaimed& claimed) {
  const Job* job = state.jobs.find(claimed.job.value);
  if (!job || !claimed.claim->allocation) return {};
  if (claimed.claim->victims.empty()) return about(claimed.job) + ": a claim without victims";
  if (std::string wrong = check_parts(state, claimed); !wrong.empty()) return wrong;
  if (all_fit(state, params, claimed)) return about(claimed.job) + ": it fits although none of its victims is gone";
  auto fits_without = [&](JobId kept) {
    Cluster c = state;
    slurmctld::NodeUse use(c);
    for (JobId id : claimed.claim->victims) {
      const Job* v = state.jobs.find(id.value);
      if (id == kept || !v || !v->allocation) continue;
      for (const NodeShare& share : v->allocation->nodes) use.release(*v, share, false, claimed.claim->since);
      c.count_licenses(*v, false);
    }
    return all_fit(c, params, claimed);
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
  if (!job || !started.allocation) return {};
  const JobId by = job->het ? job->het.leader : job->id;  // the first of the components has the claim, and starts first
  std::vector<JobId> victims;
  if (job->het)
    state.jobs.for_each([&](uint32_t id, const Job& v) {
      if (v.allocation && v.run->preempted_by == by) victims.push_back(JobId(id));
    });
  else if (job->turns->claim) victims = job->turns->claim->victims;
  for (JobId id : victims) {
    const Job* v = state.jobs.find(id.value);
    if (!v || v->run->preempted_by != by || !v->holds_nodes()) continue;
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
