#include "sched/preempt/occupants.h"

#include <algorithm>

namespace muster::sched {
namespace {

// One for the job itself; smaller and younger jobs are cheaper, but never as much as a whole job.
double cost_of(const Job& job, Time now) {
  const double cpus = job.allocation->total_cpus(), age = static_cast<double>(std::max<int64_t>(0, to_seconds(now - job.started)));
  return 1 + 0.1 * cpus / (cpus + 4096) + 0.01 * age / (age + 86400);
}

}  // namespace

std::span<const NodeShare> Occupants::given_back(const Allocation& allocation, PreemptHow how) {
  if (how != PreemptHow::kSuspend) return allocation.nodes;
  std::vector<NodeShare>& out = lessened_.emplace_back(allocation.nodes);
  for (NodeShare& share : out) {
    share.mem_mb = 0;
    share.gres.clear();
  }
  return out;
}

Occupants::Occupants(const Cluster& cluster, const PreemptRule& rule, const Pending& pending, uint32_t nodes, Time now) : on_(nodes) {
  jobs_.reserve(pending.running().size());
  for (const auto& [id, r] : pending.running()) {
    const Job* job = r.finished ? nullptr : cluster.jobs.find(id);
    if (!job || job->is_preempted() || rule.eligible_at(*job) > now) continue;
    if (job->state != JobState::kRunning && !job->waits_for_turn()) continue;
    Occupant o{.job = job, .how = rule.how(*job), .rank = rule.rank(*job), .cost = cost_of(*job, now)};
    o.aside = job->state == JobState::kSuspended && o.how == PreemptHow::kSuspend;
    o.shares = given_back(*job->allocation, o.how);
    const auto index = static_cast<uint32_t>(jobs_.size());
    for (const NodeShare& share : o.shares)
      if (share.node.value < nodes) on_[share.node.value].push_back(index);
    jobs_.push_back(std::move(o));
  }
}

void Occupants::lift(uint32_t index, Availability& nodes) const {
  const Job& job = *jobs_[index].job;
  for (const NodeShare& share : jobs_[index].shares)
    if (nodes.known().test(share.node.value)) nodes.give_back(share, *job.allocation, job.partition);
}

void Occupants::put_back(uint32_t index, Availability& nodes) const {
  const Job& job = *jobs_[index].job;
  for (const NodeShare& share : jobs_[index].shares)
    if (nodes.known().test(share.node.value)) nodes.consume(share, *job.allocation, job.request->uid, job.partition);
}

}  // namespace muster::sched
