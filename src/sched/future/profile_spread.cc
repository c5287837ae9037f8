// The earliest start of jobs that need several nodes and not simply whole nodes that are all alike: the nodes are chosen by counting at
// each slot at which something becomes free.
#include <algorithm>

#include "sched/future/profile.h"
#include "sched/place/gang_room.h"
#include "sched/topology/topology_choice.h"

namespace muster::sched {

// Every node runs the same and nothing else is asked for, so the first free nodes do.
std::optional<Profile::Spot> Profile::first_alike(const RequestClass& asked, Slot slot, const Bitmap& nodes) const {
  Spot spot;
  spot.slot = slot;
  const uint32_t tasks = wanted_on_a_node(asked.shape);
  asked.required.for_each([&](size_t id) { spot.parts.push_back({static_cast<uint32_t>(id), tasks, {}}); });
  const size_t required = spot.parts.size();
  const size_t wanted = std::max<size_t>(asked.shape.min_nodes, required);
  auto choose = [&](auto&& among) {
    for (size_t id = nodes.first(); id != Bitmap::npos && spot.parts.size() < wanted; id = nodes.next(id + 1))
      if (!asked.required.test(id) && among(id)) spot.parts.push_back({static_cast<uint32_t>(id), tasks, {}});
  };
  const bool busy_first = params_.bf.busy_nodes;
  if (busy_first) choose([&](size_t id) { return !nodes_.idle().test(id); });
  choose([&](size_t id) { return !busy_first || nodes_.idle().test(id); });
  if (spot.parts.size() < wanted) return std::nullopt;
  std::sort(spot.parts.begin(), spot.parts.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return spot;
}

uint64_t Profile::devices_on(const RequestClass& c, uint32_t node, size_t need, const Amounts& least) const {
  const Kind& k = nodes_.kind(node);
  return job_devices(c.shape, k, c.shape.per_job[need], {units_for_job(c, k, least, least.gres), least.mem_mb, least.gres});
}

// The choice among the nodes that have room throughout a stretch of time, by counting alone. It takes as few nodes as possible: a promise
// covers no more than the job needs.
class Profile::Spread final : private GangSupply {
 public:
  Spread(const Profile& of, const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes)
      : of_(of), c_(c), s_(c.shape), slot_(slot), at_(of.nodes_.size()), place_(of.nodes_.size()) {
    nodes.for_each([&](size_t at) {
      const auto node = static_cast<uint32_t>(at);
      Amounts least;
      const uint32_t tasks = of.tasks_within(c, node, slot, end, least);
      if (tasks < least_on(node)) return;
      at_.set(node);
      place_[node] = static_cast<uint32_t>(list_.size());
      const uint32_t rank = of.params_.bf.busy_nodes && of.nodes_.idle().test(node);
      list_.push_back({.node = node, .tasks = tasks, .units = least.units, .rank = rank});
      least_.push_back(std::move(least));
    });
  }

  std::optional<Spot> choose() const {
    if (s_.contiguous && !c_.topology) {
      GangChooser chooser = a_chooser();
      return chooser.neighbours(list_, c_.required) ? std::optional(spot_of(chooser)) : std::nullopt;
    }
    if (c_.alternatives.empty()) return within(at_);
    for (const Bitmap& alternative : c_.alternatives)
      if (auto spot = within(at_ & alternative)) return spot;
    return std::nullopt;
  }

 private:
  uint64_t devices(const Candidate& at, size_t need) const override { return of_.devices_on(c_, at.node, need, least_[place_[at.node]]); }

  uint32_t least_on(uint32_t node) const { return c_.places.empty() ? wanted_on_a_node(s_) : c_.places[node]; }
  GangChooser a_chooser() const { return {c_, *this, ranked_by_leaf(c_, of_.params_.topology), false}; }

  std::optional<Spot> within(const Bitmap& nodes) const {
    if (!c_.bound_by_topology()) return among(nodes, c_.required);
    const Bitmap open = s_.exclusive_topo ? of_.leaves_free(c_, nodes) : nodes;
    const TopologySupply supply{open, [&](uint32_t id) { return list_[place_[id]].tasks; },
                                [&](uint32_t id) { return devices({.node = id}, 0); }, [](uint32_t) { return 0; }};
    std::optional<Spot> found;
    auto attempt = [&](const Bitmap& set, const Bitmap& forced) {
      found = among(set, forced);
      if (found && of_.exceeds_switches(c_, *found)) found.reset();
      return found.has_value();
    };
    TopologyChoice(*c_.topology, of_.params_.topology, wish_of(c_, c_.required), supply, attempt).choose();
    return found;
  }

  std::optional<Spot> among(const Bitmap& nodes, Bitmap required) const {
    if (!nodes.contains(required)) return std::nullopt;
    for (const CountedNodes& want : c_.counts)
      if (!require(nodes, want, required)) return std::nullopt;
    Candidates order;
    for (const Candidate& x : list_)
      if (required.test(x.node)) order.push_back(x);
    const size_t forced = order.size();
    for (const Candidate& x : list_)
      if (!required.test(x.node) && nodes.test(x.node)) order.push_back(x);
    GangChooser chooser = a_chooser();
    if (!chooser.pick(order, forced)) return std::nullopt;
    return spot_of(chooser);
  }

  // [rack1*2&rack2*4]: so many nodes of each become required.
  bool require(const Bitmap& nodes, const CountedNodes& want, Bitmap& required) const {
    size_t have = c_.counts.size() > 1 ? 0 : required.count_and(want.nodes);
    Candidates list;
    for (const Candidate& x : list_)
      if (nodes.test(x.node) && want.nodes.test(x.node) && !required.test(x.node)) list.push_back(x);
    GangChooser::require(std::move(list), want, have, required);
    return have >= want.count;
  }

  Spot spot_of(GangChooser& chooser) const {
    Spot spot;
    spot.slot = slot_;
    for (Pick& p : chooser.take()) spot.parts.push_back({p.node, p.tasks, std::move(p.job_gres)});
    return spot;
  }

  const Profile& of_;
  const RequestClass& c_;
  const Shape& s_;
  const Slot slot_;
  Bitmap at_;                    // nodes with room
  std::vector<uint32_t> place_;  // of a node of `at_` in the two lists
  Candidates list_;              // by number
  std::vector<Amounts> least_;
};

std::optional<Profile::Spot> Profile::spread_at(const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes) const {
  const Shape& s = c.shape;
  if (!s.num_tasks && s.per_job.empty() && c.counts.empty() && c.alternatives.empty() && !s.contiguous && s.node_sizes.empty() &&
      !c.bound_by_topology())
    return first_alike(c, slot, nodes);
  return Spread(*this, c, slot, end, nodes).choose();
}

// Among the nodes that layers leave and that are up or may be woken, as many as there is room for together.
std::optional<Profile::Spot> Profile::spread_in_room(const RequestClass& asked, Slot slot, Slot end, const Bitmap& nodes) const {
  const std::optional<LayerRoom> layers = layers_.room(asked, slot, end);
  const GangRoom room(layers ? &*layers : nullptr, nodes_);
  const Bitmap open = layers ? nodes & layers->open() : nodes;
  if (!open.contains(asked.required)) return std::nullopt;
  if (room.has_room_for(open)) return spread_at(asked, slot, end, open);
  Candidates list;
  open.for_each([&](size_t id) {
    Amounts least;
    const auto node = static_cast<uint32_t>(id);
    if (const uint32_t tasks = tasks_within(asked, node, slot, end, least); tasks != kNoTasks)
      list.push_back({.node = node, .tasks = tasks});
  });
  std::optional<Spot> found;
  room.within(asked, std::move(list), [&](const Bitmap& some) {
    if (some.contains(asked.required)) found = spread_at(asked, slot, end, some);
    return found.has_value();
  });
  return found;
}

Profile::Spot Profile::spread(ClassPlan& plan, const RequestClass& asked) {
  Spot spot;
  uint32_t wanted = std::max<uint32_t>({asked.shape.min_nodes, static_cast<uint32_t>(asked.required.count()), 1u});
  if (asked.shape.num_tasks && !asked.shape.overcommit && asked.best_idle_tasks)
    wanted = std::max(wanted, (asked.shape.num_tasks + asked.best_idle_tasks - 1) / asked.best_idle_tasks);
  Bitmap nodes, tried;
  Slot more = 0;  // when nodes that were tried, or layers, have more to give
  const bool layered = layers_.concern(asked);
  for (Slot from = plan.cursor; from != kNever;) {
    const Slot at = find(plan, asked, {from, plan.length, wanted, asked.feasible, asked.required}, nodes);
    if (at == kNever) break;
    if (at >= more || !tried.contains(nodes)) {
      auto found = spread_in_room(asked, at, at + plan.length, nodes);
      if (found) return std::move(*found);
      tried = nodes;
      more = layered ? layers_.next_gain(asked, at) : kNever;
      nodes.for_each([&](size_t id) { more = std::min(more, lines_[id].next_gain(at)); });
    }
    from = std::min(more, line_of(plan, asked).next_arrival(at));
  }
  return spot;
}

}  // namespace muster::sched
