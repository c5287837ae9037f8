#include "sched/pass/apart.h"

#include <algorithm>

#include "base/first_fit.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {

void Apart::has_chosen(const Allocation& a, uint32_t partition) {
  for (uint32_t id : a.fenced) close(id);
  for (const NodeShare& s : a.nodes) {
    if (!promised_.test(s.node.value)) continue;
    if (future_) taken_[s.node.value].push_back({&s, &a, partition});
    else close(s.node.value);
  }
}

uint32_t Apart::tasks(uint32_t node, const RequestClass& c, uint32_t count) const {
  if (closed_.test(node)) return kNoTasks;
  if (const auto taken = taken_.find(node); taken != taken_.end()) return future_->tasks_beside(node, c, count, taken->second);
  return inner_ && inner_->promised().test(node) ? inner_->tasks(node, c, count) : count;
}

void Apart::close(uint32_t id) {
  closed_.set(id);
  promised_.set(id);
}

namespace {

bool take_place(const Cluster& cluster, const Params& params, const ComponentAsked& one, Availability& nodes, Apart& apart) {
  return std::ranges::any_of(one.classes, [&](const RequestClass* known) {
    if (known->never) return false;
    RequestClass c = *known;
    const Partition& p = cluster.partitions.at(c.partition);
    resolve(c, cluster, nodes, p);
    c.shape.switches = 0;  // that is waited for no longer than for a while
    const Placement got = place(nodes, c, params, &apart, {}, one.request->uid);
    const AllocationPtr* a = placed(got);
    if (!a) return false;
    for (const NodeShare& share : (*a)->nodes) nodes.consume(share, **a, one.request->uid, c.partition);
    apart.has_chosen(**a, c.partition);
    return true;
  });
}

}  // namespace

bool fit_together(const Cluster& cluster, const Params& params, const std::vector<ComponentAsked>& all, const Availability& nodes) {
  return first_fit(all.size(), [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    Availability left = nodes;
    Apart apart(nullptr, nullptr, left.size());
    for (size_t i = 0; i < order.size(); ++i)
      if (!take_place(cluster, params, all[order[i]], left, apart)) return i;
    return std::nullopt;
  });
}

}  // namespace muster::sched
