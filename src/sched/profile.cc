#include "sched/profile.h"

#include <algorithm>

namespace muster::sched {
namespace {

uint32_t wanted_on_a_node(const Shape& s) { return s.num_tasks ? 1 : std::max(s.tasks_per_node, 1u); }

}  // namespace

Profile::Profile(const Params& params, Time now, Availability& nodes, const Pending& pending,
                 const std::vector<Held>& starts, size_t classes)
    : params_(params),
      now_(now),
      resolution_(std::max(params.bf_resolution_s, 1u)),
      base_(unix_seconds(now) / resolution_),
      nodes_(nodes),
      plans_(classes),
      promised_(nodes.size()) {
  build_lines(pending, starts);
}

Slot Profile::slot_of(Time t) const {
  const int64_t s = (unix_seconds(t) + resolution_ - 1) / resolution_ - base_;
  return static_cast<Slot>(std::clamp<int64_t>(s, 1, 1 << 30));
}

Slot Profile::length_of(uint32_t limit) const {
  const int64_t s = limit == kUnlimited32 ? to_seconds(params_.default_time_limit) : int64_t{limit} * 60;
  return static_cast<Slot>(std::clamp<int64_t>((s + resolution_ - 1) / resolution_, 1, 1 << 30));
}

Slot Profile::end_from_now(uint32_t limit) const {
  const Duration d = limit == kUnlimited32 ? params_.default_time_limit : minutes(limit);
  return std::max<Slot>(slot_of(now_ + d), 1);
}

Time Profile::time_of(Slot slot) const { return slot == 0 ? now_ : from_unix((base_ + slot) * resolution_); }

Amounts Profile::amounts_of(const NodeShare& share, bool whole) const {
  const Kind& k = nodes_.kind(share.node.value);
  Amounts out;
  out.jobs = 1;
  out.mem_mb = share.mem_mb;
  const bool cores = params_.allocate_cores || params_.linear;
  out.units =
      whole ? k.units : std::min(k.units, k.units - std::min(k.units, free_units(k, share.cpus, cores)));
  out.gres.resize(k.gres.size());
  std::vector<uint64_t> free(k.gres.size());
  free_gres(k, share.gres, free.data());
  for (size_t g = 0; g < free.size(); ++g) out.gres[g] = k.gres[g].count - free[g];
  return out;
}

void Profile::build_lines(const Pending& pending, const std::vector<Held>& starts) {
  const uint32_t n = nodes_.size();
  lines_.resize(n);
  owned_.resize(n);
  std::vector<Slot> idle_from(n, kNever);
  for (uint32_t id = 0; id < n; ++id) {
    if (!nodes_.known().test(id)) continue;
    const Node* node = nodes_.node(id);
    const bool soon =
        !nodes_.usable().test(id) && (node->flags & kNodeCompleting) && node->admin == NodeState::kIdle &&
        !(node->flags & (kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid | kNodeMaint | kNodeBlocked));
    if (!nodes_.usable().test(id) && !soon) continue;
    Amounts free{nodes_.units_free(id),
                 nodes_.idle().test(id) ? 0u : 1u << 20,
                 nodes_.mem_free(id),
                 {nodes_.gres_free(id).begin(), nodes_.gres_free(id).end()}};
    if (soon) free.units = 0;
    lines_[id].begin(0, free);
    idle_from[id] = free.jobs == 0 ? 0 : kNever;
  }
  // Per node: the ends of what is there, and the last of them.
  std::vector<Slot> last(n, 0);
  std::vector<uint32_t> held(n, 0);
  auto ends = [&](const NodeShare& share, bool whole, Slot end) {
    const uint32_t node = share.node.value;
    if (node >= n || !lines_[node].started()) return;
    const Kind& k = nodes_.kind(node);
    Amounts all{k.units, 0, k.mem_mb, {}};
    for (const GresDevices& g : k.gres) all.gres.push_back(g.count);
    lines_[node].give_back(end, amounts_of(share, whole), all);
    last[node] = std::max(last[node], end);
    ++held[node];
  };
  for (const auto& [id, r] : pending.running()) {
    const Slot end = r.finished                ? 1
                     : r.ends == kTimeInfinite ? slot_of(now_ + params_.default_time_limit)
                                               : slot_of(r.ends);
    for (size_t i = 0; i < r.allocation->nodes.size(); ++i)
      if (!r.finished || r.releasing.test(i)) ends(r.allocation->nodes[i], r.allocation->whole_nodes, end);
  }
  for (const Held& h : starts)
    for (const NodeShare& share : h.allocation->nodes)
      ends(share, h.allocation->whole_nodes, end_from_now(h.time_limit_min));
  for (uint32_t id = 0; id < n; ++id) {
    if (!lines_[id].started() || idle_from[id] == 0) continue;
    // Whatever else may hold it, after the last end it is idle: make that exact.
    const Kind& k = nodes_.kind(id);
    Amounts all{k.units, 1u << 20, k.mem_mb, {}};
    for (const GresDevices& g : k.gres) all.gres.push_back(g.count);
    Amounts back = all;
    const Slot from = held[id] ? last[id] : 1;
    all.jobs = 0;
    back.jobs = 0xffffffffu;
    lines_[id].give_back(from, back, all);
    idle_from[id] = from;
    if (nodes_.owned().test(id)) owned_[id] = {nodes_.owner(id), from};
  }
  idle_.build(idle_from);
}

void Profile::started(const Allocation& a, uint32_t limit) {
  const Slot end = end_from_now(limit);
  std::vector<uint32_t> ids;
  for (const NodeShare& share : a.nodes) {
    const uint32_t id = share.node.value;
    lines_[id].take(0, end, amounts_of(share, a.whole_nodes));
    ids.push_back(id);
    if (nodes_.owned().test(id)) owned_[id] = {nodes_.owner(id), std::max(owned_[id].until, end)};
  }
  idle_.take(0, end, ids);
}

Amounts Profile::amounts_of(const RequestClass& c, const Spot::Part& part) const {
  const Kind& k = nodes_.kind(part.node);
  const Shape& s = c.shape;
  Amounts out;
  out.jobs = 1;
  out.gres.assign(k.gres.size(), 0);
  uint64_t gpus = 0;
  auto take = [&](const GresNeed& need, uint64_t count) {
    if (need.name == "gpu") gpus += count;
    for (size_t g = 0; g < k.gres.size() && count > 0; ++g) {
      if (k.gres[g].name != need.name || (!need.type.empty() && k.gres[g].type != need.type)) continue;
      const uint64_t n = std::min(count, k.gres[g].count - out.gres[g]);
      out.gres[g] += n;
      count -= n;
    }
  };
  for (const GresNeed& need : s.per_node) take(need, need.count);
  for (const GresNeed& need : s.per_task) take(need, mul_sat(need.count, part.tasks));
  for (size_t i = 0; i < s.per_job.size() && i < part.job_gres.counts.size(); ++i)
    take(s.per_job[i], part.job_gres.counts[i]);
  // What is promised to a job with --exclusive=user is kept whole for it.
  out.units = s.whole || s.exclusive_user ? k.units : std::min(k.units, units_for(s, k, part.tasks, gpus));
  if (s.mem_consumable) out.mem_mb = memory_for(s, k, out.units, gpus);
  if (s.whole)
    for (size_t g = 0; g < k.gres.size(); ++g) out.gres[g] = k.gres[g].count;
  return out;
}

void Profile::promise(const RequestClass& c, const Spot& spot) {
  const Slot end = spot.slot + length_of(c.time_limit_min);
  std::vector<uint32_t> ids;
  for (const Spot::Part& part : spot.parts) {
    lines_[part.node].take(spot.slot, end, amounts_of(c, part));
    promised_.set(part.node);
    ids.push_back(part.node);
  }
  idle_.take(spot.slot, end, ids);
  horizon_ = std::max(horizon_, end);
}

// Nodes held with --exclusive=user are open to that user alone until the last job there ends.
bool Profile::may_share(const RequestClass& c, uint32_t node, Slot slot, uint32_t jobs) const {
  if (jobs > 0 && c.shape.whole) return false;
  const Owned& owned = owned_[node];
  if (slot < owned.until) return owned.user == c.uid;
  return jobs == 0 || !c.shape.exclusive_user;
}

// The most tasks that fit on a node throughout a stretch of time.
uint32_t Profile::tasks_within(const RequestClass& c, uint32_t node, Slot first, Slot end,
                               Amounts& least) const {
  const Kind& k = nodes_.kind(node);
  least = lines_[node].least(first, end);
  if (!may_share(c, node, first, least.jobs)) return kNoTasks;
  if (least.jobs == 0 && (c.shape.whole || c.shape.exclusive_user))
    return c.idle_tasks[nodes_.kind_index(node)];
  return count_tasks(c.shape, k, {least.units, least.mem_mb, least.gres});
}

uint32_t Profile::tasks(uint32_t node, const RequestClass& c, uint32_t count) const {
  if (!lines_[node].started()) return kNoTasks;
  const Slot end = end_from_now(c.time_limit_min);
  // The present is the placement's business; promises lie in the future.
  Amounts least = lines_[node].least(0, end);
  const Kind& k = nodes_.kind(node);
  if (c.shape.whole) return lines_[node].least(0, end).jobs == 0 ? count : kNoTasks;
  if (c.shape.oversubscribe) least.units = std::max(least.units, nodes_.units_free(node));
  return std::min(count, count_tasks(c.shape, k, {least.units, least.mem_mb, least.gres}));
}

void Profile::prepare(ClassPlan& plan, const RequestClass& c) {
  plan.ready = true;
  plan.length = length_of(c.time_limit_min);
  const Shape& s = c.shape;
  const bool plain = c.counts.empty() && c.alternatives.empty() && !s.contiguous && s.per_job.empty() &&
                     s.node_sizes.empty() && !s.switches;
  uint32_t caps = 0;
  bool alike = true;
  for (uint32_t k = 0; k < c.idle_tasks.size(); ++k)
    if (c.idle_tasks[k] != kNoTasks) {
      alike &= caps == 0 || caps == c.idle_tasks[k];
      caps = c.idle_tasks[k];
    }
  const bool single =
      s.min_nodes <= 1 && !s.grow && !s.spread && s.num_tasks && c.best_idle_tasks >= s.num_tasks;
  if (plain && s.whole && (alike || !s.num_tasks) && caps) {
    plan.mode = Mode::kIdleNodes;
    const uint32_t wanted = s.num_tasks ? (s.num_tasks + caps - 1) / caps : 1;
    plan.count = std::max({s.min_nodes, wanted, static_cast<uint32_t>(c.required.count())});
    return;
  }
  const bool one = plain && c.required.count() <= 1 && !s.overcommit &&
                   (single || (!s.num_tasks && s.min_nodes <= 1 && !s.grow));
  plan.mode = one ? Mode::kOneNode : Mode::kSpread;
  const uint32_t tasks = one ? (s.num_tasks ? s.num_tasks : wanted_on_a_node(s)) : wanted_on_a_node(s);
  plan.needs.resize(c.idle_tasks.size());
  for (uint32_t k = 0; k < plan.needs.size(); ++k) {
    Need& need = plan.needs[k];
    if (c.idle_tasks[k] < tasks || c.idle_tasks[k] == kNoTasks) continue;
    const Kind& kind = nodes_.kinds()[k];
    need.possible = true;
    need.tasks = tasks;
    uint64_t gpus = s.gpus_per_node() + s.gpus_per_task() * tasks;
    for (const GresNeed& g : s.per_job) gpus += g.name == "gpu";
    need.units = s.whole ? kind.units : units_for(s, kind, tasks, gpus);
    if (s.mem_consumable) need.mem_mb = memory_for(s, kind, need.units, gpus);
    need.gres = devices_needed(s, kind, tasks);
  }
}

std::vector<Profile::Need::Devices> Profile::devices_needed(const Shape& s, const Kind& kind,
                                                            uint32_t tasks) {
  std::vector<GresNeed> all;
  for (const GresNeed& g : s.per_node) all.push_back(g);
  for (const GresNeed& g : s.per_task) all.push_back({g.name, g.type, g.count * tasks});
  for (const GresNeed& g : s.per_job) all.push_back({g.name, g.type, 1});
  std::vector<Need::Devices> out;
  for (const GresNeed& g : all) {
    Need::Devices d;
    // What names no type competes with all needs of the name.
    for (const GresNeed& o : all)
      if (o.name == g.name && (g.type.empty() || o.type == g.type)) d.count += o.count;
    for (uint32_t e = 0; e < kind.gres.size(); ++e)
      if (kind.gres[e].name == g.name && (g.type.empty() || kind.gres[e].type == g.type))
        d.entries.push_back(e);
    out.push_back(std::move(d));
  }
  return out;
}

bool Profile::row_fits(const Need& need, const RequestClass& c, uint32_t node, size_t row) const {
  const NodeLine::Row& r = lines_[node].row(row);
  if (r.units < need.units || r.mem_mb < need.mem_mb) return false;
  if (!may_share(c, node, r.slot, r.jobs)) return false;
  if (need.gres.empty()) return true;
  const std::span<const uint64_t> free = lines_[node].gres(row);
  for (const Need::Devices& d : need.gres) {
    uint64_t have = 0;
    for (uint32_t e : d.entries) have += free[e];
    if (have < d.count) return false;
  }
  return true;
}

Slot Profile::node_earliest(const ClassPlan& plan, const RequestClass& c, uint32_t node, Slot from) {
  const Need& need = plan.needs[nodes_.kind_index(node)];
  if (!need.possible || !lines_[node].started()) return kNever;
  Slot any = kNever;
  const Slot at = lines_[node].earliest(
      from, plan.length, [&](size_t row) { return row_fits(need, c, node, row); }, any);
  Slot& bound = families_[plan.family].estimate[node];
  if (from <= bound) bound = any;
  return at;
}

Profile::Spot Profile::earliest(uint32_t class_id, uint32_t family, RequestClass& c, Slot from) {
  if (class_id >= plans_.size()) plans_.resize(class_id + 1);
  if (family >= families_.size()) families_.resize(family + 1);
  ClassPlan& plan = plans_[class_id];
  plan.family = family;
  if (!plan.ready) prepare(plan, c);
  Spot spot;
  plan.cursor = std::max({plan.cursor, from, floor_of(families_[family], plan.length)});
  if (plan.cursor == kNever) return spot;
  switch (plan.mode) {
    case Mode::kIdleNodes:
      spot = idle_nodes(plan, c);
      break;
    case Mode::kOneNode:
      spot = one_node(plan, c);
      break;
    case Mode::kSpread:
      spot = spread(plan, c);
      break;
  }
  plan.cursor = spot.slot;
  raise_floor(families_[family], plan.length, spot.slot);
  return spot;
}

Slot Profile::floor_of(const Family& family, Slot length) {
  auto it = family.not_before.upper_bound(length);
  return it == family.not_before.begin() ? 1 : std::prev(it)->second;
}

void Profile::raise_floor(Family& family, Slot length, Slot slot) {
  if (floor_of(family, length) >= slot) return;
  auto it = family.not_before.insert_or_assign(length, slot).first;
  for (++it; it != family.not_before.end() && it->second <= slot;) it = family.not_before.erase(it);
}

Profile::Spot Profile::idle_nodes(ClassPlan& plan, const RequestClass& c) {
  Spot spot;
  Bitmap nodes;
  spot.slot = idle_.find(plan.cursor, plan.length, plan.count, c.feasible, c.required, nodes);
  if (spot.slot == kNever) return spot;
  std::vector<uint32_t> chosen, caps;
  c.required.for_each([&](size_t id) { chosen.push_back(static_cast<uint32_t>(id)); });
  for (size_t id = nodes.first(); id != Bitmap::npos && chosen.size() < plan.count; id = nodes.next(id + 1))
    if (!c.required.test(id)) chosen.push_back(static_cast<uint32_t>(id));
  std::sort(chosen.begin(), chosen.end());
  std::vector<uint32_t> tasks(chosen.size(), std::max(c.shape.tasks_per_node, 1u));
  if (c.shape.num_tasks) {
    for (uint32_t id : chosen) caps.push_back(c.idle_tasks[nodes_.kind_index(id)]);
    tasks = spread_tasks(caps, c.shape.num_tasks, !c.shape.pack_nodes);
  }
  for (size_t i = 0; i < chosen.size(); ++i) spot.parts.push_back({chosen[i], tasks[i], {}});
  return spot;
}

void Profile::ensure_estimates(ClassPlan& plan, const RequestClass& c) {
  if (!plan.estimate.empty()) return;
  const uint32_t n = nodes_.size();
  plan.estimate.assign(n, kNever);
  std::vector<Slot>& bound = families_[plan.family].estimate;
  if (bound.empty()) bound.assign(n, 1);
  const Bitmap& among = c.required.any() && plan.mode == Mode::kOneNode ? c.required : c.feasible;
  among.for_each([&](size_t id) {
    if (id < n && lines_[id].started() && plan.needs[nodes_.kind_index(static_cast<uint32_t>(id))].possible)
      plan.estimate[id] = bound[id] == kNever ? kNever : std::max(plan.cursor, bound[id]);
  });
  if (plan.mode == Mode::kOneNode) {
    const uint32_t leaves = std::bit_ceil(std::max(n, 1u));
    plan.tree.assign(leaves, 0);
    auto better = [&](uint32_t a, uint32_t b) {
      const Slot ea = a < n ? plan.estimate[a] : kNever, eb = b < n ? plan.estimate[b] : kNever;
      return eb < ea ? b : a;
    };
    for (uint32_t i = leaves - 1; i >= 1; --i) {
      const uint32_t l = 2 * i, r = 2 * i + 1;
      plan.tree[i] = better(l >= leaves ? l - leaves : plan.tree[l], r >= leaves ? r - leaves : plan.tree[r]);
    }
  }
  estimate_bytes_ += n * sizeof(Slot) + plan.tree.size() * sizeof(uint32_t);
}

// A class whose estimates cost too much memory works them out anew the next time.
void Profile::drop_estimates(ClassPlan& plan) {
  if (estimate_bytes_ <= kEstimateBytes) return;
  estimate_bytes_ -= plan.estimate.size() * sizeof(Slot) + plan.tree.size() * sizeof(uint32_t);
  plan.estimate = {};
  plan.tree = {};
}

Profile::Spot Profile::one_node(ClassPlan& plan, const RequestClass& c) {
  ensure_estimates(plan, c);
  Spot spot;
  const auto n = static_cast<uint32_t>(plan.estimate.size());
  const auto leaves = static_cast<uint32_t>(plan.tree.size());
  auto update = [&](uint32_t node) {
    auto value = [&](uint32_t a) { return a < n ? plan.estimate[a] : kNever; };
    for (uint32_t i = (node + leaves) / 2; i >= 1; i /= 2) {
      const uint32_t l = 2 * i, r = 2 * i + 1;
      const uint32_t a = l >= leaves ? l - leaves : plan.tree[l], b = r >= leaves ? r - leaves : plan.tree[r];
      plan.tree[i] = value(b) < value(a) ? b : a;
    }
  };
  while (n > 0) {
    const uint32_t node = leaves == 1 ? 0 : plan.tree[1];
    if (node >= n || plan.estimate[node] == kNever) break;
    const Slot is = node_earliest(plan, c, node, std::max(plan.estimate[node], plan.cursor));
    if (is == plan.estimate[node]) {
      spot.slot = is;
      spot.parts.push_back({node, plan.needs[nodes_.kind_index(node)].tasks, {}});
      break;
    }
    plan.estimate[node] = is;
    if (leaves > 1) update(node);
  }
  drop_estimates(plan);
  return spot;
}

// Every node runs the same, and nothing else is asked: the first that are free.
std::optional<Profile::Spot> Profile::first_alike(const ClassPlan& plan, const RequestClass& c,
                                                  Slot slot) const {
  Spot spot;
  spot.slot = slot;
  const uint32_t tasks = wanted_on_a_node(c.shape);
  size_t required = 0;
  c.required.for_each([&](size_t id) {
    if (plan.estimate[id] == slot) spot.parts.push_back({static_cast<uint32_t>(id), tasks, {}}), ++required;
  });
  if (required < c.required.count()) return std::nullopt;
  const size_t wanted = std::max<size_t>(c.shape.min_nodes, required);
  for (uint32_t id = 0; id < plan.estimate.size() && spot.parts.size() < wanted; ++id)
    if (plan.estimate[id] == slot && !c.required.test(id)) spot.parts.push_back({id, tasks, {}});
  if (spot.parts.size() < wanted) return std::nullopt;
  std::sort(spot.parts.begin(), spot.parts.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  return spot;
}

// --switches: one leaf after the other, the fewest nodes first; else the leaves of the required nodes and the
// largest of the others, as many as may be.
template <class Among>
std::optional<Profile::Spot> Profile::among_leaves(const Bitmap& nodes, const RequestClass& c,
                                                   Among&& among) const {
  std::vector<std::pair<size_t, uint32_t>> order;
  for (uint32_t i = 0; i < params_.leaf_switches.size(); ++i)
    if (const size_t n = params_.leaf_switches[i].count_and(nodes)) order.push_back({n, i});
  std::sort(order.begin(), order.end());
  for (const auto& [n, leaf] : order)
    if (auto spot = among(nodes & params_.leaf_switches[leaf])) return spot;
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const bool ra = params_.leaf_switches[a.second].intersects(c.required);
    const bool rb = params_.leaf_switches[b.second].intersects(c.required);
    return ra != rb ? ra : a.first > b.first;
  });
  Bitmap together(nodes_.size());
  for (size_t i = 0; i < order.size() && i < c.shape.switches; ++i) {
    together |= nodes & params_.leaf_switches[order[i].second];
    if (i == 0) continue;
    if (auto spot = among(together)) return spot;
  }
  return std::nullopt;
}

std::optional<Profile::Spot> Profile::spread_at(const ClassPlan& plan, const RequestClass& c,
                                                Slot slot) const {
  const Shape& s = c.shape;
  if (!s.num_tasks && s.per_job.empty() && c.counts.empty() && c.alternatives.empty() && !s.contiguous &&
      s.node_sizes.empty() && !s.switches)
    return first_alike(plan, c, slot);
  const Slot end = slot + plan.length;
  struct Candidate {
    uint32_t node, tasks;
    Amounts least;
  };
  std::vector<Candidate> list;
  Bitmap at(nodes_.size());
  for (uint32_t id = 0; id < plan.estimate.size(); ++id) {
    if (plan.estimate[id] != slot) continue;
    Candidate got{id, 0, {}};
    got.tasks = tasks_within(c, id, slot, end, got.least);
    if (got.tasks < wanted_on_a_node(s)) continue;
    at.set(id);
    list.push_back(std::move(got));
  }
  auto among = [&](const Bitmap& nodes) -> std::optional<Spot> {
    if (!nodes.contains(c.required)) return std::nullopt;
    for (const CountedNodes& want : c.counts)
      if (nodes.count_and(want.nodes) < want.count) return std::nullopt;
    Bitmap first = c.required;
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
    if (s.contiguous)
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
  if (s.contiguous) {
    // Runs of neighbours, one after the other.
    Bitmap run(nodes_.size());
    for (size_t id = at.first(); id != Bitmap::npos; id = at.next(id + 1)) {
      if (id > 0 && !at.test(id - 1)) run = Bitmap(nodes_.size());
      run.set(id);
      if (!at.test(id + 1))
        if (auto spot = among(run)) return spot;
    }
    return std::nullopt;
  }
  auto within = [&](const Bitmap& nodes) -> std::optional<Spot> {
    if (!s.switches) return among(nodes);
    return among_leaves(nodes, c, among);
  };
  if (c.alternatives.empty()) return within(at);
  for (const Bitmap& alternative : c.alternatives)
    if (auto spot = within(at & alternative)) return spot;
  return std::nullopt;
}

Profile::Spot Profile::spread(ClassPlan& plan, const RequestClass& c) {
  ensure_estimates(plan, c);
  Slot t = plan.cursor;
  Spot spot;
  uint32_t wanted = std::max<uint32_t>({c.shape.min_nodes, static_cast<uint32_t>(c.required.count()), 1u});
  if (c.shape.num_tasks && !c.shape.overcommit && c.best_idle_tasks)
    wanted = std::max(wanted, (c.shape.num_tasks + c.best_idle_tasks - 1) / c.best_idle_tasks);
  std::vector<Slot> soonest;  // a heap, the latest on top: those that come next after t
  while (t != kNever) {
    soonest.clear();
    uint32_t now = 0;
    for (uint32_t id = 0; id < plan.estimate.size(); ++id) {
      Slot& e = plan.estimate[id];
      if (e <= t) e = node_earliest(plan, c, id, t);
      if (e == t) {
        ++now;
      } else if (e != kNever && (soonest.size() < wanted || e < soonest.front())) {
        soonest.push_back(e);
        std::push_heap(soonest.begin(), soonest.end());
        if (soonest.size() > wanted) {
          std::pop_heap(soonest.begin(), soonest.end());
          soonest.pop_back();
        }
      }
    }
    // No start before enough nodes have come ...
    const size_t missing = now >= wanted ? 1 : wanted - now;
    std::sort_heap(soonest.begin(), soonest.end());
    Slot next = missing > soonest.size() ? kNever : soonest[missing - 1];
    if (now >= wanted) {
      if (auto found = spread_at(plan, c, t)) {
        spot = std::move(*found);
        break;
      }
      // ... or those that are there have more to give.
      for (uint32_t id = 0; id < plan.estimate.size(); ++id)
        if (plan.estimate[id] == t) next = std::min(next, lines_[id].next_gain(t));
    }
    t = next;
  }
  drop_estimates(plan);
  return spot;
}

}  // namespace muster::sched
