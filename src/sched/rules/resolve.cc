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

namespace {

// Where nodes can be rebooted for features that the class asks for: the class that takes only those that need none.
void add_unchanged(RequestClass& asked, const Cluster& cluster, Availability& nodes, const Partition& partition) {
  const ChangeableFeatures* changeable = nodes.changeable();
  const bool boots = changeable && !nodes.ideal() && !asked.shape.nodes_as_they_are && !asked.alternatives.empty() &&
                     changeable->any_of(asked.shape.features);
  if (!boots) return asked.unchanged.reset();
  if (!asked.unchanged) {
    auto made = std::make_shared<RequestClass>(asked);
    made->shape.nodes_as_they_are = true;
    made->shape.prefer = {};
    made->preferred = nullptr;
    made->resolved_at = 0;
    asked.unchanged = std::move(made);
  }
  resolve(*asked.unchanged, cluster, nodes, partition);
}

}  // namespace

void resolve(RequestClass& asked, const Cluster& cluster, Availability& nodes, const Partition& partition) {
  look_at_reservations(asked, nodes);
  auto placed_by = nodes.topology(cluster, partition);
  const uint64_t version = version_asked(asked, nodes);
  if (asked.resolved_at == version && placed_by == asked.topology) {
    for (RequestClass* other : {asked.preferred.get(), asked.unchanged.get()})
      if (other) look_at_reservations(*other, nodes);
    return;
  }
  asked.resolved_at = version;
  asked.topology = std::move(placed_by);
  asked.blocked_at = asked.too_full_at = 0;
  asked.taken.clear();
  asked.feasible = partition.nodes & nodes.known();
  asked.peers.clear();
  if (asked.shape.oversubscribe)
    cluster.partitions.for_each(
        [&](uint32_t index, const Partition& p) { asked.peers.assign(index, p.priority_tier == partition.priority_tier); });
  for (const NodeRule* rule : narrowing_rules()) {
    const size_t before = asked.feasible.count();
    rule->narrow({cluster, nodes, asked});
    asked.taken.push_back(static_cast<uint32_t>(before - asked.feasible.count()));
  }
  for (CountedNodes& counted : asked.counts) counted.nodes &= asked.feasible;
  for (Bitmap& alternative : asked.alternatives) alternative &= asked.feasible;
  add_unchanged(asked, cluster, nodes, partition);
  asked.monotone = !asked.unchanged && is_monotone(asked, nodes);
  if (asked.shape.prefer.empty()) return;
  if (!asked.preferred) {
    asked.preferred = std::make_shared<RequestClass>(asked);
    asked.preferred->shape.features = std::exchange(asked.preferred->shape.prefer, {});
    asked.preferred->shape.nodes_as_they_are = true;  // what is only welcome is not worth a reboot
    asked.preferred->unchanged = nullptr;
    asked.preferred->resolved_at = 0;
  }
  resolve(*asked.preferred, cluster, nodes, partition);
}

}  // namespace muster::sched
