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

Occupants::Occupants(const Cluster& cluster, const PreemptRule& rule, const Pending& pending, uint32_t nodes, Time now) {
  jobs_.reserve(pending.running().size());
  for (const auto& [id, r] : pending.running()) {
    const Job* job = r.finished ? nullptr : cluster.jobs.find(id);
    if (!job || job->is_preempted() || rule.eligible_at(*job) > now) continue;
    if (job->state != JobState::kRunning && !job->waits_for_turn()) continue;
    Occupant o{.job = job, .how = rule.how(*job), .rank = rule.rank(*job), .cost = cost_of(*job, now)};
    o.aside = job->state == JobState::kSuspended && o.how == PreemptHow::kSuspend;
    o.shares = given_back(*job->allocation, o.how);
    jobs_.push_back(std::move(o));
  }
  sort_by_node(nodes);
}

// One list of all, since a list for each of 10,000 nodes costs more to grow than all the rest.
void Occupants::sort_by_node(uint32_t nodes) {
  first_on_.assign(nodes + 1, 0);
  for (const Occupant& o : jobs_)
    for (const NodeShare& share : o.shares)
      if (share.node.value < nodes) ++first_on_[share.node.value + 1];
  for (uint32_t node = 0; node < nodes; ++node) first_on_[node + 1] += first_on_[node];
  on_.resize(first_on_[nodes]);
  std::vector<uint32_t> next(first_on_.begin(), first_on_.end() - 1);
  for (uint32_t index = 0; index < jobs_.size(); ++index)
    for (const NodeShare& share : jobs_[index].shares)
      if (share.node.value < nodes) on_[next[share.node.value]++] = index;
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
