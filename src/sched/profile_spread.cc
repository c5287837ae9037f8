// The earliest start of jobs that are neither whole nodes all alike nor one node: several nodes, chosen by
// counting at each slot at which something becomes free.
#include <algorithm>

#include "sched/profile.h"
#include "sched/topology_choice.h"

namespace muster::sched {

// Every node runs the same, and nothing else is asked: the first that are free.
std::optional<Profile::Spot> Profile::first_alike(const RequestClass& c, Slot slot, const Bitmap& nodes) const {
  Spot spot;
  spot.slot = slot;
  const uint32_t tasks = wanted_on_a_node(c.shape);
  c.required.for_each([&](size_t id) { spot.parts.push_back({static_cast<uint32_t>(id), tasks, {}}); });
  const size_t required = spot.parts.size();
  const size_t wanted = std::max<size_t>(c.shape.min_nodes, required);
  auto choose = [&](auto&& among) {
    for (size_t id = nodes.first(); id != Bitmap::npos && spot.parts.size() < wanted; id = nodes.next(id + 1))
      if (!c.required.test(id) && among(id)) spot.parts.push_back({static_cast<uint32_t>(id), tasks, {}});
  };
  const bool busy_first = params_.bf.busy_nodes;
  if (busy_first) choose([&](size_t id) { return !nodes_.idle().test(id); });
  choose([&](size_t id) { return !busy_first || nodes_.idle().test(id); });
  if (spot.parts.size() < wanted) return std::nullopt;
  std::sort(spot.parts.begin(), spot.parts.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  return spot;
}

std::optional<Profile::Spot> Profile::spread_at(const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes) const {
  const Shape& s = c.shape;
  if (!s.num_tasks && s.per_job.empty() && c.counts.empty() && c.alternatives.empty() && !s.contiguous &&
      s.node_sizes.empty() && !c.bound_by_topology())
    return first_alike(c, slot, nodes);
  struct Candidate {
    uint32_t node, tasks;
    Amounts least;
  };
  std::vector<Candidate> list;
  Bitmap at(nodes_.size());
  nodes.for_each([&](size_t node) {
    Candidate got{static_cast<uint32_t>(node), 0, {}};
    got.tasks = tasks_within(c, got.node, slot, end, got.least);
    if (got.tasks < wanted_on_a_node(s)) return;
    at.set(node);
    list.push_back(std::move(got));
  });
  if (params_.bf.busy_nodes)
    std::stable_partition(list.begin(), list.end(), [&](const Candidate& x) { return !nodes_.idle().test(x.node); });
  auto among = [&](const Bitmap& nodes, const Bitmap& required) -> std::optional<Spot> {
    if (!nodes.contains(required)) return std::nullopt;
    for (const CountedNodes& want : c.counts)
      if (nodes.count_and(want.nodes) < want.count) return std::nullopt;
    Bitmap first = required;
    for (const CountedNodes& want : c.counts) {
      uint32_t need = want.count;
      for (size_t id = nodes.first(); id != Bitmap::npos && need > 0; id = nodes.next(id + 1))
        if (want.nodes.test(id) && !first.test(id)) first.set(id), --need;
    }
    std::vector<const Candidate*> order;
    for (const Candidate& x : list)
      if (first.test(x.node)) order.push_back(&x);
    const size_t forced = order.size();
    for (const Candidate& x : list)
      if (!first.test(x.node) && nodes.test(x.node)) order.push_back(&x);
    if (s.num_tasks)
      std::stable_sort(order.begin() + static_cast<ptrdiff_t>(forced), order.end(),
                       [](const Candidate* a, const Candidate* b) { return a->tasks > b->tasks; });
    std::vector<const Candidate*> chosen;
    uint64_t tasks = 0;
    std::vector<uint64_t> gres(s.per_job.size(), 0);
    auto enough = [&] {
      if (chosen.size() < std::max<size_t>(s.min_nodes, forced)) return false;
      if (s.num_tasks && !s.overcommit && tasks < s.num_tasks) return false;
      for (size_t g = 0; g < gres.size(); ++g)
        if (gres[g] < s.per_job[g].count) return false;
      return s.node_sizes.empty() ||
             std::binary_search(s.node_sizes.begin(), s.node_sizes.end(), chosen.size());
    };
    for (const Candidate* x : order) {
      if (enough() || chosen.size() >= s.max_nodes) break;
      chosen.push_back(x);
      tasks += x->tasks;
      for (size_t g = 0; g < gres.size(); ++g)
        gres[g] += gres_available(s.per_job[g], nodes_.kind(x->node), x->least.gres);
    }
    if (!enough()) return std::nullopt;
    std::sort(chosen.begin(), chosen.end(),
              [](const Candidate* a, const Candidate* b) { return a->node < b->node; });
    if (s.contiguous && !c.topology)
      for (size_t i = 1; i < chosen.size(); ++i)
        if (chosen[i]->node != chosen[i - 1]->node + 1) return std::nullopt;
    Spot spot;
    spot.slot = slot;
    std::vector<uint32_t> caps, counts(chosen.size(), std::max(s.tasks_per_node, 1u));
    for (const Candidate* x : chosen) caps.push_back(x->tasks);
    if (s.num_tasks)
      counts = spread_tasks(caps, s.num_tasks,
                            s.cyclic_nodes || s.spread || s.overcommit || (s.whole && !s.pack_nodes));
    for (size_t i = 0; i < chosen.size(); ++i) spot.parts.push_back({chosen[i]->node, counts[i], {}});
    for (size_t g = 0; g < s.per_job.size(); ++g) {
      uint64_t left = s.per_job[g].count;
      for (size_t i = 0; i < chosen.size(); ++i) {
        const uint64_t after = chosen.size() - 1 - i;
        const uint64_t have =
            gres_available(s.per_job[g], nodes_.kind(chosen[i]->node), chosen[i]->least.gres);
        const uint64_t n = std::min(have, left > after ? left - after : 0);
        spot.parts[i].job_gres.counts.push_back(n);
        left -= n;
      }
    }
    return spot;
  };
  if (s.contiguous && !c.topology) {
    // Runs of neighbours, one after the other.
    Bitmap run(nodes_.size());
    for (size_t id = at.first(); id != Bitmap::npos; id = at.next(id + 1)) {
      if (id > 0 && !at.test(id - 1)) run = Bitmap(nodes_.size());
      run.set(id);
      if (!at.test(id + 1))
        if (auto spot = among(run, c.required)) return spot;
    }
    return std::nullopt;
  }
  auto within = [&](const Bitmap& nodes) -> std::optional<Spot> {
    if (!c.bound_by_topology()) return among(nodes, c.required);
    const Bitmap open = s.exclusive_topo ? leaves_free(c, nodes) : nodes;
    std::vector<const Candidate*> by_node(nodes_.size());
    for (const Candidate& x : list) by_node[x.node] = &x;
    const TopologySupply supply{
        open,
        [&](uint32_t id) { return by_node[id]->tasks; },
        [&](uint32_t id) { return gres_available(s.per_job[0], nodes_.kind(id), by_node[id]->least.gres); },
        [](uint32_t) { return 0; }};
    std::optional<Spot> found;
    auto attempt = [&](const Bitmap& set, const Bitmap& forced) {
      found = among(set, forced);
      if (found && exceeds_switches(c, *found)) found.reset();
      return found.has_value();
    };
    TopologyChoice(*c.topology, params_.topology, wish_of(c, c.required), supply, attempt).choose();
    return found;
  };
  if (c.alternatives.empty()) return within(at);
  for (const Bitmap& alternative : c.alternatives)
    if (auto spot = within(at & alternative)) return spot;
  return std::nullopt;
}

Profile::Spot Profile::spread(ClassPlan& plan, const RequestClass& c) {
  Spot spot;
  uint32_t wanted = std::max<uint32_t>({c.shape.min_nodes, static_cast<uint32_t>(c.required.count()), 1u});
  if (c.shape.num_tasks && !c.shape.overcommit && c.best_idle_tasks)
    wanted = std::max(wanted, (c.shape.num_tasks + c.best_idle_tasks - 1) / c.best_idle_tasks);
  Bitmap nodes, tried;
  Slot more = 0;  // when nodes that were tried have more to give
  for (Slot from = plan.cursor; from != kNever;) {
    const Slot at = find(plan, c, {from, plan.length, wanted, c.feasible, c.required}, nodes);
    if (at == kNever) break;
    if (at >= more || !tried.contains(nodes)) {
      if (auto found = spread_at(c, at, at + plan.length, nodes)) return std::move(*found);
      tried = nodes;
      more = kNever;
      nodes.for_each([&](size_t id) { more = std::min(more, lines_[id].next_gain(at)); });
    }
    from = std::min(more, line_of(plan, c).next_arrival(at));
  }
  return spot;
}

}  // namespace muster::sched
