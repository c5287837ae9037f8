// The earliest start of jobs that are neither whole nodes all alike nor one node: several nodes, chosen by
// counting at each slot at which something becomes free.
#include <algorithm>

#include "sched/future/profile.h"
#include "sched/topology/topology_choice.h"

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
  std::sort(spot.parts.begin(), spot.parts.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return spot;
}

uint64_t Profile::devices_on(const RequestClass& c, uint32_t node, size_t need, const Amounts& least) const {
  const Kind& k = nodes_.kind(node);
  return job_devices(c.shape, k, c.shape.per_job[need], {units_for_job(c, k, least, least.gres), least.mem_mb, least.gres});
}

// The choice among the nodes that have room throughout a stretch of time. The mirror of Gang (place/gang.h), by counting alone.
class Profile::Spread {
 public:
  Spread(const Profile& of, const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes)
      : of_(of), c_(c), s_(c.shape), slot_(slot), at_(of.nodes_.size()) {
    nodes.for_each([&](size_t node) {
      Candidate got{static_cast<uint32_t>(node), 0, {}};
      got.tasks = of.tasks_within(c, got.node, slot, end, got.least);
      if (got.tasks < least_on(got.node)) return;
      at_.set(node);
      list_.push_back(std::move(got));
    });
    if (of.params_.bf.busy_nodes)
      std::stable_partition(list_.begin(), list_.end(), [&](const Candidate& x) { return !of.nodes_.idle().test(x.node); });
  }

  std::optional<Spot> choose() const {
    if (s_.contiguous && !c_.topology) return in_a_row();
    if (c_.alternatives.empty()) return within(at_);
    for (const Bitmap& alternative : c_.alternatives)
      if (auto spot = within(at_ & alternative)) return spot;
    return std::nullopt;
  }

 private:
  struct Candidate {
    uint32_t node, tasks;
    Amounts least;
  };
  using Chosen = std::vector<const Candidate*>;

  uint32_t least_on(uint32_t node) const { return c_.places.empty() ? wanted_on_a_node(s_) : c_.places[node]; }

  // Runs of neighbours, one after the other.
  std::optional<Spot> in_a_row() const {
    Bitmap run(of_.nodes_.size());
    for (size_t id = at_.first(); id != Bitmap::npos; id = at_.next(id + 1)) {
      if (id > 0 && !at_.test(id - 1)) run = Bitmap(of_.nodes_.size());
      run.set(id);
      if (!at_.test(id + 1))
        if (auto spot = among(run, c_.required)) return spot;
    }
    return std::nullopt;
  }

  std::optional<Spot> within(const Bitmap& nodes) const {
    if (!c_.bound_by_topology()) return among(nodes, c_.required);
    const Bitmap open = s_.exclusive_topo ? of_.leaves_free(c_, nodes) : nodes;
    std::vector<const Candidate*> by_node(of_.nodes_.size());
    for (const Candidate& x : list_) by_node[x.node] = &x;
    const TopologySupply supply{open, [&](uint32_t id) { return by_node[id]->tasks; },
                                [&](uint32_t id) { return of_.devices_on(c_, id, 0, by_node[id]->least); }, [](uint32_t) { return 0; }};
    std::optional<Spot> found;
    auto attempt = [&](const Bitmap& set, const Bitmap& forced) {
      found = among(set, forced);
      if (found && of_.exceeds_switches(c_, *found)) found.reset();
      return found.has_value();
    };
    TopologyChoice(*c_.topology, of_.params_.topology, wish_of(c_, c_.required), supply, attempt).choose();
    return found;
  }

  std::optional<Spot> among(const Bitmap& nodes, const Bitmap& required) const {
    if (!nodes.contains(required)) return std::nullopt;
    for (const CountedNodes& want : c_.counts)
      if (nodes.count_and(want.nodes) < want.count) return std::nullopt;
    const Bitmap first = with_counted(nodes, required);
    Chosen order;
    for (const Candidate& x : list_)
      if (first.test(x.node)) order.push_back(&x);
    const size_t forced = order.size();
    for (const Candidate& x : list_)
      if (!first.test(x.node) && nodes.test(x.node)) order.push_back(&x);
    if (s_.num_tasks)
      std::stable_sort(order.begin() + static_cast<ptrdiff_t>(forced), order.end(),
                       [](const Candidate* a, const Candidate* b) { return a->tasks > b->tasks; });
    Chosen chosen = first_enough(order, forced);
    if (chosen.empty()) return std::nullopt;
    std::sort(chosen.begin(), chosen.end(), [](const Candidate* a, const Candidate* b) { return a->node < b->node; });
    if (s_.contiguous && !c_.topology)
      for (size_t i = 1; i < chosen.size(); ++i)
        if (chosen[i]->node != chosen[i - 1]->node + 1) return std::nullopt;
    return laid_over(chosen);
  }

  // [rack1*2&rack2*4]: the first so many of each.
  Bitmap with_counted(const Bitmap& nodes, const Bitmap& required) const {
    Bitmap out = required;
    for (const CountedNodes& want : c_.counts) {
      uint32_t need = want.count;
      for (size_t id = nodes.first(); id != Bitmap::npos && need > 0; id = nodes.next(id + 1))
        if (want.nodes.test(id) && !out.test(id)) out.set(id), --need;
    }
    return out;
  }

  // As many of the order as are enough, those that are forced in any case; none: all are not.
  Chosen first_enough(const Chosen& order, size_t forced) const {
    Chosen chosen;
    uint64_t tasks = 0;
    std::vector<uint64_t> gres(s_.per_job.size(), 0);
    auto enough = [&] {
      if (chosen.size() < std::max<size_t>(s_.min_nodes, forced)) return false;
      if (s_.num_tasks && !s_.overcommit && tasks < s_.num_tasks) return false;
      for (size_t g = 0; g < gres.size(); ++g)
        if (gres[g] < s_.per_job[g].count) return false;
      return s_.node_sizes.empty() || std::binary_search(s_.node_sizes.begin(), s_.node_sizes.end(), chosen.size());
    };
    for (const Candidate* x : order) {
      if (enough() || chosen.size() >= s_.max_nodes) break;
      chosen.push_back(x);
      tasks += x->tasks;
      for (size_t g = 0; g < gres.size(); ++g) gres[g] += of_.devices_on(c_, x->node, g, x->least);
    }
    return enough() ? chosen : Chosen();
  }

  // The tasks over them, and --gpus: each node one at least, the first as many as they have.
  Spot laid_over(const Chosen& chosen) const {
    Spot spot;
    spot.slot = slot_;
    std::vector<uint32_t> caps, counts(chosen.size(), std::max(s_.tasks_per_node, 1u));
    for (const Candidate* x : chosen) caps.push_back(x->tasks);
    if (!c_.places.empty())
      for (size_t i = 0; i < chosen.size(); ++i) counts[i] = c_.places[chosen[i]->node];
    else if (s_.num_tasks) counts = spread_tasks(caps, s_.num_tasks, spreads_evenly(s_));
    for (size_t i = 0; i < chosen.size(); ++i) spot.parts.push_back({chosen[i]->node, counts[i], {}});
    for (size_t g = 0; g < s_.per_job.size(); ++g) {
      uint64_t left = s_.per_job[g].count;
      for (size_t i = 0; i < chosen.size(); ++i) {
        const uint64_t after = chosen.size() - 1 - i;
        const uint64_t have = of_.devices_on(c_, chosen[i]->node, g, chosen[i]->least);
        const uint64_t n = std::min(have, left > after ? left - after : 0);
        spot.parts[i].job_gres.counts.push_back(n);
        left -= n;
      }
    }
    return spot;
  }

  const Profile& of_;
  const RequestClass& c_;
  const Shape& s_;
  const Slot slot_;
  Bitmap at_;                    // nodes with room
  std::vector<Candidate> list_;  // in the order in which they are taken
};

std::optional<Profile::Spot> Profile::spread_at(const RequestClass& c, Slot slot, Slot end, const Bitmap& nodes) const {
  const Shape& s = c.shape;
  if (!s.num_tasks && s.per_job.empty() && c.counts.empty() && c.alternatives.empty() && !s.contiguous && s.node_sizes.empty() &&
      !c.bound_by_topology())
    return first_alike(c, slot, nodes);
  return Spread(*this, c, slot, end, nodes).choose();
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
