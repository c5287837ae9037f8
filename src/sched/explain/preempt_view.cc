#include "sched/explain/preempt_view.h"

#include <algorithm>

#include "sched/explain/explain.h"
#include "sched/preempt/preempt_rule.h"
#include "sched/queue/pending.h"

namespace muster::sched {
namespace {

constexpr size_t kMostShown = 10;

void show(const Cluster& cluster, const std::vector<JobId>& victims, JobExplanation& out) {
  out.victim_count = static_cast<uint32_t>(victims.size());
  for (size_t i = 0; i < victims.size() && i < kMostShown; ++i)
    if (const Job* v = cluster.jobs.find(victims[i].value)) out.victims.push_back(brief_of(cluster, *v));
}

// Those that a pass at that time would choose; the jobs that are suspended at once count, too.
std::vector<JobId> chosen_at(const Cluster& cluster, const Params& params, Time at, JobId job) {
  const Plan plan = Planner().plan(cluster, params, at, Pass::kFull);
  for (const PreemptItem& item : plan.preemptions)
    if (item.job == job) return item.victims;
  for (const StartItem& item : plan.starts)
    if (item.job == job) return item.over;
  return {};
}

// When the next of those that the job could preempt has run long enough for that; kTimeInfinite: there is none.
Time next_exempt_end(const Cluster& cluster, const Params& params, Time now, const Job& job) {
  const PreemptRule rule(cluster, params.preempt, now);
  Time next = kTimeInfinite;
  for (uint32_t index : partitions_of(cluster, job)) {
    const Partition* p = cluster.partitions.find(index);
    if (!p || !rule.preempts(*p, *job.request)) continue;
    const Preemptor who{*job.request, *p, job.priority, false, static_cast<bool>(job.het)};
    cluster.jobs.for_each([&](uint32_t, const Job& victim) {
      if (victim.allocation && !victim.finished() && rule.may_ever(who, victim))
        if (const Time at = rule.eligible_at(victim); at > now) next = std::min(next, at);
    });
  }
  return next;
}

}  // namespace

std::string_view why_suspended(const Job& job) {
  switch (job.run->suspend_cause) {
    case SuspendCause::kUser: return "until scontrol resume";
    case SuspendCause::kPreempted: return "it made room for another job, and goes on after that (preemption)";
    case SuspendCause::kTimeSlice: return "its turn comes again (time slice)";
  }
  return {};
}

void add_preemption(const Cluster& cluster, const Params& params, Time now, const Job& job, JobExplanation& out) {
  const Restart& restart = job.turns->restart;
  const Node* node = restart.has_node ? cluster.nodes.find(restart.node.value) : nullptr;
  out.restart = restart_text(restart, node ? std::string_view(node->spec->name) : "?");
  if (job.state == JobState::kSuspended && out.detail.empty()) out.detail = why_suspended(job);
  if (job.is_preempted()) {
    out.preempted_by = job.run->preempted_by.value;
    out.preempt_how = preempt_how_name(job.run->preempt_how);
    out.preempted = job.run->preempted;
  }
  if (!job.pending()) return;
  const Job* leader = job.het ? cluster.jobs.find(job.het.leader.value) : &job;  // it claims for all components
  if (leader && leader->turns->claim) {
    out.claims = true;
    return show(cluster, leader->turns->claim->victims, out);
  }
  if (!params.preempt.preempts() || job.priority == 0 || job.dependencies) return;
  const Time next = next_exempt_end(cluster, params, now, job);
  const JobId claims = job.het ? job.het.leader : job.id;
  std::vector<JobId> victims = chosen_at(cluster, params, now, claims);
  if (victims.empty() && next != kTimeInfinite) {
    victims = chosen_at(cluster, params, next, claims);
    out.exempt_until = next;
  }
  show(cluster, victims, out);
}

}  // namespace muster::sched
