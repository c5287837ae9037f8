#include "sched/planned.h"

namespace muster::sched {
namespace {

constexpr uint32_t kOut = kNodeDrain | kNodeFail | kNodeInvalid;  // since the pass: nothing will start there

}  // namespace

void PlannedNodes::add(JobId job, Time start, std::span<const uint32_t> nodes) {
  promises_.push_back({job, start});
  for (const uint32_t node : nodes) {
    if (first_.size() <= node) first_.resize(node + 1);
    uint32_t& first = first_[node];
    if (!first || start < promises_[first - 1].start) first = static_cast<uint32_t>(promises_.size());
  }
}

const PlannedNodes::Promise* PlannedNodes::kept(const Cluster& cluster, const Node& node) const {
  if (node.id.value >= first_.size() || !first_[node.id.value] || (node.flags & kOut)) return nullptr;
  const NodeState state = node.state();
  if (state != NodeState::kIdle && state != NodeState::kMixed) return nullptr;
  const Promise& promise = promises_[first_[node.id.value] - 1];
  const Job* job = cluster.jobs.find(promise.job.value);
  return job && job->pending() ? &promise : nullptr;
}

}  // namespace muster::sched
