// Works a class out: the nodes of its partition, narrowed rule by rule, and what follows from those that are left.
#include <utility>

#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

// Whether a class that did not fit does not fit either when more is taken (RequestClass::monotone).
bool is_monotone(const RequestClass& c, const Availability& nodes) {
  const Shape& s = c.shape;
  bool monotone = s.per_job.empty() && !s.contiguous && c.counts.empty() && s.prefer.empty() && (s.whole || !c.bound_by_topology());
  for (uint32_t k = 0; k < c.idle_tasks.size(); ++k)
    monotone &= c.idle_tasks[k] == kNoTasks || s.whole || sched::counts_decide(s, nodes.kinds()[k]);
  return monotone;
}

// The state of the nodes that the class is worked out against. What they say in their Extra is part of it only for those that ask.
uint64_t version_asked(const RequestClass& c, const Availability& nodes) {
  return nodes.shape_version() + (c.shape.extra.empty() ? 0 : nodes.extra_version());
}

}  // namespace

namespace {

// What reservations keep from the class moves with time, whatever happens to nodes.
void look_at_reservations(RequestClass& c, Availability& nodes) {
  ReservedViewPtr now = nodes.reserved().view(c.reserver());
  const bool same = now == c.reserved || (now && c.reserved && now->same_as(*c.reserved));
  c.reserved = std::move(now);
  if (!same) c.blocked_at = c.too_full_at = 0;
}

}  // namespace

void resolve(RequestClass& c, const Cluster& cluster, Availability& nodes, const Partition& partition) {
  look_at_reservations(c, nodes);
  auto placed_by = nodes.topology(cluster, partition);
  const uint64_t version = version_asked(c, nodes);
  if (c.resolved_at == version && placed_by == c.topology) {
    if (c.preferred) look_at_reservations(*c.preferred, nodes);
    return;
  }
  c.resolved_at = version;
  c.topology = std::move(placed_by);
  c.blocked_at = c.too_full_at = 0;
  c.taken.clear();
  c.feasible = partition.nodes & nodes.known();
  c.peers.clear();
  if (c.shape.oversubscribe)
    cluster.partitions.for_each(
        [&](uint32_t index, const Partition& p) { c.peers.assign(index, p.priority_tier == partition.priority_tier); });
  for (const NodeRule* rule : narrowing_rules()) {
    const size_t before = c.feasible.count();
    rule->narrow({cluster, nodes, c});
    c.taken.push_back(static_cast<uint32_t>(before - c.feasible.count()));
  }
  for (CountedNodes& counted : c.counts) counted.nodes &= c.feasible;
  for (Bitmap& alternative : c.alternatives) alternative &= c.feasible;
  c.monotone = is_monotone(c, nodes);
  if (c.shape.prefer.empty()) return;
  if (!c.preferred) {
    c.preferred = std::make_shared<RequestClass>(c);
    c.preferred->shape.features = std::exchange(c.preferred->shape.prefer, {});
    c.preferred->resolved_at = 0;
  }
  resolve(*c.preferred, cluster, nodes, partition);
}

}  // namespace muster::sched
