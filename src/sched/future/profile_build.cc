// The future as far as running jobs determine it: what each node has free now, and what comes back when.
#include <algorithm>

#include "sched/future/profile.h"

namespace muster::sched {
namespace {

// A GPU whose shares several jobs hold becomes available as a whole when the last of them ends.
class SharedGpus {
 public:
  void holds(const NodeShare& share, Slot end) {
    each(share, [&](const Key& key) { last_[key] = std::max(last_[key], end); });
  }
  // Takes out of what comes back at `end` the GPUs that others still share, or that came back already.
  void keep(const NodeShare& share, const Kind& kind, Slot end, std::vector<uint64_t>& back) {
    each(share, [&](const Key& key) {
      auto it = last_.find(key);
      if (it != last_.end() && it->second == end) {
        last_.erase(it);
        return;
      }
      for (size_t g = 0; g < kind.gres.size(); ++g) {
        const GresDevices& d = kind.gres[g];
        const bool it_is = d.name == "gpu" && key.second >= d.first_index && key.second < d.first_index + d.count;
        if (it_is && back[g] > 0) --back[g];
      }
    });
  }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // node, GPU
  template <class F>
  static void each(const NodeShare& share, F&& f) {
    for (const GresShare& g : share.gres)
      if (!g.shares.empty()) g.devices.for_each([&](size_t d) { f(Key{share.node.value, static_cast<uint32_t>(d)}); });
  }
  std::map<Key, Slot> last_;
};

// CPUs that several jobs hold come back when the last of these jobs ends.
class SharedCpus {
 public:
  void holds(const NodeShare& share, Slot end) {
    std::vector<Slot>& last = last_[share.node.value];
    share.cpus.for_each([&](size_t cpu) {
      if (cpu >= last.size()) last.resize(cpu + 1, 0);
      last[cpu] = std::max(last[cpu], end);
    });
  }
  // Those of a job's CPUs that come back when it ends, and have not come back yet.
  Bitmap back(const NodeShare& share, Slot end) {
    Bitmap out = share.cpus;
    auto it = last_.find(share.node.value);
    if (it == last_.end()) return out;
    std::vector<Slot>& last = it->second;
    share.cpus.for_each([&](size_t cpu) {
      if (cpu >= last.size() || last[cpu] == 0) return;  // another job's, that shares none
      if (last[cpu] != end) out.reset(cpu);
      else last[cpu] = kNever;  // once
    });
    return out;
  }

 private:
  std::map<uint32_t, std::vector<Slot>> last_;  // node → CPU → end of the last that holds it
};

}  // namespace

Amounts Profile::amounts_of(const NodeShare& share, const Allocation& of, const Bitmap& cpus, uint32_t partition) const {
  const Kind& kind = nodes_.kind(share.node.value);
  const bool cores = params_.allocate_cores || params_.linear;
  Amounts out;
  out.jobs = 1;
  out.mem_mb = share.mem_mb;
  auto held = [&](const Bitmap& of_these) { return kind.units - std::min(kind.units, free_units(kind, of_these, cores)); };
  out.units = of.whole_nodes ? kind.units : held(cpus);
  out.open = kind.restricted.none() || of.whole_nodes ? out.units : held(cpus - restricted_cpus(kind));
  out.sharing = of.oversubscribe ? Sharing{1, 0, held(share.cpus)} : Sharing{0, 1};
  out.gres.resize(kind.gres.size());
  std::vector<uint64_t> free(kind.gres.size());
  free_gres(kind, share.gres, free.data());
  for (size_t g = 0; g < free.size(); ++g) out.gres[g] = kind.gres[g].count - free[g];
  partitions_.add_held(kind, partition, cpus.count(), out.gres);
  return out;
}

// What the node has now, as if the jobs there stayed for good; nothing where the node cannot be used.
void Profile::begin_line(uint32_t id) {
  if (!nodes_.known().test(id)) return;
  const Node* node = nodes_.node(id);
  const bool usable = nodes_.usable().test(id);
  const bool soon = !usable && (node->flags & kNodeCompleting) && node->admin == NodeState::kIdle &&
                    !(node->flags & (kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid | kNodeMaint | kNodeBlocked));
  // The node is kept from others by --exclusive=topo, by a job that still runs or that started in this pass.
  const bool fenced = !usable && node->admin == NodeState::kIdle && node_usable_but_for(*node, kNodeBlocked);
  if (!usable && !soon && !fenced) return;
  const Kind& k = nodes_.kind(id);
  Amounts free;
  free.units = soon || fenced ? 0 : nodes_.units_free(id);
  free.open = free.units;
  if (free.units > 0 && k.restricted.any())
    free.open = free_units(k, nodes_.use(id).cpus | restricted_cpus(k), params_.allocate_cores || params_.linear);
  free.jobs = nodes_.idle().test(id) && !fenced ? 0u : 1u << 20;
  free.mem_mb = nodes_.mem_free(id);
  free.gres.assign(nodes_.gres_free(id).begin(), nodes_.gres_free(id).end());
  partitions_.add_free(k, nodes_.by_partition(id), free.gres);
  lines_[id].begin(0, free);
}

void Profile::build_lines(const Pending& pending, const std::vector<Held>& starts, const std::set<uint32_t>& yielding) {
  const uint32_t count = nodes_.size();
  lines_.resize(count);
  owned_.resize(count);
  for (uint32_t id = 0; id < count; ++id) begin_line(id);
  // For each node: when the last of what is there ends, and how much is there.
  std::vector<Slot> last(count, 0);
  std::vector<uint32_t> held(count, 0);
  SharedGpus shared_gpus;
  SharedCpus shared_cpus;
  auto ends = [&](const NodeShare& share, const Allocation& allocation, Slot end, uint32_t partition) {
    const uint32_t node = share.node.value;
    if (node >= count || !lines_[node].started()) return;
    const Kind& k = nodes_.kind(node);
    Amounts all = all_of(node);
    all.jobs = 0;
    Amounts back = amounts_of(share, allocation, shared_cpus.back(share, end), partition);
    shared_gpus.keep(share, k, end, back.gres);
    Amounts shares{.gres = {}, .sharing = back.sharing};
    partitions_.share(k, partition, back.sharing, shares.gres);
    lines_[node].take(0, end, shares);
    lines_[node].give_back(end, back, all);
    last[node] = std::max(last[node], end);
    ++held[node];
  };
  auto stays_fenced = [&](const Allocation& a, Slot end) {
    for (uint32_t id : a.fenced)
      if (id < count) last[id] = std::max(last[id], end), ++held[id];
  };
  auto each_allocation = [&](auto&& f) {
    for (const auto& [id, r] : pending.running()) {
      if (yielding.contains(id)) continue;
      const Slot end = r.finished                              ? 1
                       : r.expected_end(now_) == kTimeInfinite ? slot_of(now_ + params_.default_time_limit)
                                                               : slot_of(r.expected_end(now_));
      f(*r.allocation, end, r.partition, [&](size_t i) { return !r.finished || r.releasing.test(i); });
    }
    for (const Held& h : starts) f(*h.allocation, end_from_now(h.time_limit_min), h.partition, [](size_t) { return true; });
  };
  auto each_share = [&](auto&& f) {
    each_allocation([&](const Allocation& a, Slot end, uint32_t partition, auto&& holds) {
      for (size_t i = 0; i < a.nodes.size(); ++i)
        if (holds(i)) f(a.nodes[i], a, end, partition);
    });
  };
  each_share([&](const NodeShare& share, const Allocation& a, Slot end, uint32_t) {
    shared_gpus.holds(share, end);
    if (a.oversubscribe || params_.preempt.modes.gang) shared_cpus.holds(share, end);
  });
  each_share(ends);
  each_allocation([&](const Allocation& a, Slot end, uint32_t, auto&&) { stays_fenced(a, end); });
  for (uint32_t id = 0; id < count; ++id)
    if (lines_[id].started() && lines_[id].row(0).jobs > 0) idle_from(id, held[id] ? last[id] : 1, held[id] > 0);
}

// After its last end a node is idle, whatever the counts add up to: makes that exact. `held`: whether that end is known.
void Profile::idle_from(uint32_t id, Slot from, bool held) {
  Amounts all = all_of(id), back = all;
  all.jobs = 0;
  back.jobs = 0xffffffffu;
  if (!held || !nodes_.usable().test(id)) lines_[id].take(0, from, {.gres = {}, .sharing = {0, 1}});
  lines_[id].give_back(from, back, all);
  if (nodes_.owned().test(id)) owned_[id] = {nodes_.kept_for(id), from};
}

// What is left of a node beside jobs of which the profile is not told yet.
uint32_t Profile::tasks_beside(uint32_t node, const RequestClass& asked, uint32_t count, std::span<const Beside> others) const {
  const Kind& kind = nodes_.kind(node);
  const Shape& shape = asked.shape;
  const bool by_counts = !shape.whole && !shape.oversubscribe && !shape.keeps_others_off() && kind.restricted.none();
  if (!by_counts || nodes_.owned().test(node) || !lines_[node].started()) return kNoTasks;
  if (recalling_) catch_up(node);
  auto less = [](auto& have, auto lost) { have -= std::min(have, lost); };
  // They are taken to stay as long as this one does.
  Amounts least = lines_[node].least(0, end_from_now(limit_of(asked)));
  for (const Beside& other : others) {
    if (other.of->whole_nodes || other.of->oversubscribe || !other.share->gres.empty()) return kNoTasks;
    const Amounts held = amounts_of(*other.share, *other.of, other.share->cpus, other.partition);
    less(least.units, held.units);
    less(least.mem_mb, held.mem_mb);
    for (size_t at = 0; at < least.gres.size() && at < held.gres.size(); ++at) less(least.gres[at], held.gres[at]);
  }
  if (least.sharing.leaning) return kNoTasks;  // somebody is promised CPUs of jobs that share theirs
  const uint32_t units = partitions_.units_left(asked, kind, least.units, least.gres);
  return std::min(count, count_tasks(shape, kind, {units, least.mem_mb, least.gres}));
}

}  // namespace muster::sched
