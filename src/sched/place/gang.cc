#include "sched/place/gang.h"

#include <algorithm>

#include "sched/place/gang_room.h"

namespace muster::sched {
namespace {

// Calls f(id) for the members of a & b & c, ascending, until it returns true; returns whether it did.
template <class F>
bool any_of_and(const Bitmap& a, const Bitmap& b, const Bitmap& c, F&& f) {
  const size_t n = std::min({a.words().size(), b.words().size(), c.words().size()});
  for (size_t w = 0; w < n; ++w)
    for (uint64_t bits = a.words()[w] & b.words()[w] & c.words()[w]; bits; bits &= bits - 1)
      if (f(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits))))) return true;
  return false;
}

}  // namespace

Duration patience(const Shape& shape, const Params& params) {
  const Duration most = params.topology.max_switch_wait;
  return shape.switches_wait.count() ? std::min(shape.switches_wait, most) : most;
}

Gang::Gang(Availability& nodes, RequestClass& asked, const Params& params, const NodeFilter* filter, Bitmap open, Duration waited,
           const TaskCaps& caps)
    : nodes_(nodes),
      c_(asked),
      s_(asked.shape),
      params_(params),
      filter_(filter),
      open_(std::move(open)),
      waited_(waited),
      caps_(caps),
      limited_(limit_of(s_).concerns()),
      no_devices_(s_.per_node.empty() && s_.per_task.empty() && s_.per_job.empty() && !s_.tasks_per_gpu),
      chooser_(asked, *this, ranked_by_leaf(asked, params.topology), true) {}

uint32_t Gang::switches() const {
  if (!c_.topology) return 0;
  Bitmap used(nodes_.size());
  for (const Pick& p : picks()) used.set(p.node);
  return c_.topology->leaves_of(used);
}

// Of CPUs that jobs share, tries those with the fewest jobs first. No CPU gets more jobs of the job's own partition than the partition
// allows; jobs of its peers are counted by their own partitions, so all of them together may be more.
bool Gang::choose() {
  uint32_t most = s_.oversubscribe_count;
  if (s_.oversubscribe && c_.peers.count() > 1) most = std::max(most, nodes_.most_on_a_cpu() + 1);
  for (others_ = 0; others_ == 0 || (s_.oversubscribe && others_ < most); ++others_)
    if (choose_sharing()) return true;
  return false;
}

bool Gang::choose_sharing() { return GangRoom(c_.layers.get(), nodes_).has_room_for(open_) ? choose_among_open() : choose_within_room(); }

// Not all open nodes together: first those that are better by themselves.
bool Gang::choose_within_room() {
  const Bitmap open = open_;
  Candidates list;
  for (const Bitmap& tier : nodes_.tiers())
    any_of_and(open, tier, open, [&](uint32_t id) {
      if (const Candidate got = look(id); got.tasks != kNoTasks) list.push_back(got);
      return false;
    });
  const bool found = GangRoom(c_.layers.get(), nodes_).within(c_, std::move(list), [&](const Bitmap& some) {
    open_ = some;
    return choose_among_open();
  });
  open_ = open;
  return found;
}

bool Gang::choose_among_open() {
  required_ = c_.required;
  if (!open_.contains(required_)) return false;
  if (!c_.counts.empty() && !require_counted(open_)) return false;
  if (by_topology()) return within_topology();
  if (s_.contiguous && !c_.topology) return runs_of_neighbours(open_);
  return choose_in(open_);
}

bool Gang::choose_in(const Bitmap& open) {
  if (!open.contains(required_)) return false;
  if (s_.whole && !s_.spread && s_.per_job.empty() && caps_.empty() && idle_nodes(open)) return true;
  if (!s_.whole && !s_.grow && !s_.spread && !s_.oversubscribe && s_.nodes_from(1) == 1 && one_node(open)) return true;
  return by_tiers(open);
}

// The node with the least to spare that takes all of the job.
bool Gang::one_node(const Bitmap& open) {
  const uint32_t tasks = s_.num_tasks ? s_.num_tasks : s_.tasks_per_node;
  if (c_.best_idle_tasks < tasks || required_.count() > 1) return false;
  uint64_t gpus = s_.gpus_per_node() + s_.gpus_per_task() * tasks + s_.gpus_per_job();
  uint32_t least = nodes_.max_units();
  for (uint32_t k = 0; k < c_.idle_tasks.size(); ++k)
    if (c_.idle_tasks[k] >= tasks) least = std::min(least, units_for(s_, nodes_.kinds()[k], tasks, gpus));
  if (c_.too_full_at != nodes_.freed()) c_.too_full = Bitmap(nodes_.size());
  c_.too_full_at = nodes_.freed();
  const Bitmap among = (required_.any() ? required_ : open) - c_.too_full;
  auto try_node = [&](uint32_t id) {
    Candidate got = look(id);
    if (got.tasks < tasks) {
      // Where counting alone decides and nothing is promised, the node stays too full until something comes back.
      if (c_.monotone && !(filter_ && filter_->promised().test(id))) c_.too_full.set(id);
      return false;
    }
    for (size_t need = 0; need < s_.per_job.size(); ++need)
      if (devices(got, need) < s_.per_job[need].count) return false;
    return chooser_.settle({got});
  };
  const bool from_the_end = params_.serial_at_end && tasks == 1 && s_.cpus_per_task == 1;
  for (const Bitmap& tier : nodes_.tiers()) {
    if (from_the_end) {
      const Bitmap there = among & tier;
      for (uint32_t id = nodes_.size(); id-- > 0;)
        if (there.test(id) && try_node(id)) return true;
      continue;
    }
    const uint32_t end = nodes_.max_units();
    for (uint32_t i = least; i < end; ++i) {
      const uint32_t units = s_.lln ? end - 1 - (i - least) : i;
      if (nodes_.any_with_units(units) && any_of_and(nodes_.with_units(units), among, tier, try_node)) return true;
    }
  }
  return false;
}

// For whole nodes that are all alike: takes the first ones.
bool Gang::idle_nodes(const Bitmap& open) {
  uint32_t cap = 0;
  for (uint32_t k = 0; k < c_.idle_tasks.size(); ++k) {
    if (c_.idle_tasks[k] == kNoTasks || !nodes_.of_kind(k).intersects(open)) continue;
    if (cap && cap != c_.idle_tasks[k] && s_.num_tasks) return false;
    cap = c_.idle_tasks[k];
  }
  if (!cap) return false;
  const uint32_t wanted = s_.num_tasks ? (s_.num_tasks + cap - 1) / cap : 1;
  const uint32_t least = s_.nodes_from(std::max(wanted, static_cast<uint32_t>(required_.count())));
  if (!least || open.count() < least) return false;
  const uint32_t most = s_.grow ? s_.max_nodes : least;
  Candidates chosen;
  auto add = [&](uint32_t id) {
    if (filter_ && filter_->promised().test(id) && filter_->tasks(id, c_, cap) == kNoTasks) return false;
    chosen.push_back({id, cap, nodes_.kind(id).units, 0});
    return chosen.size() >= most;
  };
  required_.for_each([&](size_t id) { add(static_cast<uint32_t>(id)); });
  if (chosen.size() < required_.count()) return false;
  const Bitmap rest = required_.any() ? open - required_ : open;
  for (const Bitmap& tier : nodes_.tiers())
    if (chosen.size() >= most || any_of_and(rest, tier, rest, add)) break;
  if (chosen.size() < least) return false;
  chosen.resize(s_.nodes_up_to(static_cast<uint32_t>(chosen.size())));
  return chooser_.settle(std::move(chosen));
}

uint32_t Gang::units_on(uint32_t id, uint32_t others) const {
  return others == 0 && !limited_ ? nodes_.units_free(id) : nodes_.units_for(id, onlooker_of(c_, others));
}

// Where no devices are asked for, the answer follows from the node's kind, its free units and its free memory.
uint32_t Gang::count_on(uint32_t id, uint32_t units) const {
  const uint32_t kind = nodes_.kind_index(id);
  const uint64_t mem_mb = nodes_.mem_free(id);
  if (!no_devices_ || kind != last_.kind || units != last_.units || mem_mb != last_.mem_mb)
    last_ = {kind, units, mem_mb, count_tasks(s_, nodes_.kind(id), {units, mem_mb, nodes_.gres_free(id)})};
  return last_.tasks;
}

uint64_t Gang::devices(const Candidate& at, size_t need) const {
  return job_devices(s_, nodes_.kind(at.node), s_.per_job[need],
                     {units_on(at.node, at.others), nodes_.mem_free(at.node), nodes_.gres_free(at.node)});
}

// How many of --gpus the node may get: the most it can, or as few as so many tasks there need. More devices may lie at more sockets and so
// open more cores to the tasks; fewer are easier to find.
JobGres Gang::job_gres_on(uint32_t id, uint32_t others, uint32_t tasks, bool most) const {
  JobGres out;
  for (size_t need = 0; need < s_.per_job.size(); ++need) {
    const uint64_t have = devices({.node = id, .others = others}, need);
    out.counts.push_back(most ? std::min(have, s_.per_job[need].count) : chooser_.least_devices(need, tasks));
  }
  return out;
}

Candidate Gang::look(uint32_t id) const {
  const Kind& kind = nodes_.kind(id);
  Candidate out{id, kNoTasks, s_.whole ? kind.units : units_on(id, 0), 0};
  const uint32_t wanted = s_.num_tasks ? 1 : s_.tasks_per_node;
  // Idle nodes of a kind are alike, and what they take is known.
  const bool known = s_.whole && s_.per_job.empty();
  out.tasks = known ? c_.idle_tasks[nodes_.kind_index(id)] : count_on(id, out.units);
  for (uint32_t others = 1; others <= others_ && nodes_.shared().test(id); ++others) {
    const Candidate less = out;
    out.units = units_on(id, others);
    out.others = others;
    out.tasks = count_on(id, out.units);
    if (out.tasks <= less.tasks) out = less;
  }
  if (s_.num_tasks && !s_.overcommit) out.tasks = std::min(out.tasks, s_.num_tasks);
  if (auto cap = caps_.find(id); cap != caps_.end()) out.tasks = std::min(out.tasks, cap->second);
  if (out.tasks >= wanted && !counts_decide(s_, kind) && !s_.whole) {
    // Counting is only a bound here: ask the layout.
    const NodeUse use = nodes_.use_for(id, onlooker_of(c_, out.others));
    auto fits = [&](uint32_t n) {
      auto with = [&](bool most) { return choose_on_node(s_, kind, NodeId(id), use, n, job_gres_on(id, out.others, n, most)).has_value(); };
      return with(true) || (!s_.per_job.empty() && with(false));
    };
    while (out.tasks > kNoTasks && !fits(out.tasks)) --out.tasks;
  }
  if (out.tasks && filter_ && filter_->promised().test(id)) out.tasks = filter_->tasks(id, c_, out.tasks);
  if (out.tasks < wanted) out.tasks = kNoTasks;
  return out;
}

bool Gang::by_tiers(const Bitmap& open) {
  Candidates list;
  required_.for_each([&](size_t id) { list.push_back(look(static_cast<uint32_t>(id))); });
  for (const Candidate& c : list)
    if (c.tasks == kNoTasks) return false;
  const Bitmap rest = required_.any() ? open - required_ : open;
  for (const Bitmap& tier : nodes_.tiers()) {
    const size_t before = list.size();
    any_of_and(rest, tier, rest, [&](uint32_t id) {
      Candidate got = look(id);
      if (got.tasks != kNoTasks) list.push_back(got);
      return false;
    });
    if (list.size() == before && before > required_.count()) continue;
    if (chooser_.pick(list, required_.count())) return true;
  }
  return false;
}

// [rack1*2&rack2*4]: so many nodes of each become required, the others are chosen freely.
bool Gang::require_counted(const Bitmap& open) {
  for (const CountedNodes& want : c_.counts) {
    size_t have = required_.count_and(want.nodes);
    // Nodes chosen for an earlier count are not counted again where both name them in one bracket.
    if (c_.counts.size() > 1) have = 0;
    for (const Bitmap& tier : nodes_.tiers()) {
      if (have >= want.count) break;
      Candidates list;
      any_of_and(open, want.nodes, tier, [&](uint32_t id) {
        if (required_.test(id)) return false;
        Candidate got = look(id);
        if (got.tasks != kNoTasks) list.push_back(got);
        return false;
      });
      GangChooser::require(std::move(list), want, have, required_);
    }
    if (have < want.count) return false;
  }
  return true;
}

// Whether the topology decides: a tree does not with --spread-job, nor with TopoOptional unless the job has --switches.
bool Gang::by_topology() const {
  if (!c_.topology) return false;
  if (c_.topology->kind() != TopologyKind::kTree) return true;
  return !s_.spread && (!params_.topology.optional || s_.switches > 0);
}

// The nodes that can take a part of the job, and how many tasks: what counting says, where that is cheap to know.
Bitmap Gang::able(std::vector<uint32_t>& tasks) const {
  Bitmap out = open_;
  const bool whole = s_.whole && s_.per_job.empty();
  const bool sums = s_.num_tasks > 0;
  if (sums) tasks.resize(nodes_.size());
  std::vector<bool> by_count;  // of a kind nothing but counting is to be asked
  for (const Kind& k : nodes_.kinds()) by_count.push_back(no_devices_ && others_ == 0 && !limited_ && counts_decide(s_, k));
  const uint32_t wanted = sums ? 1 : s_.tasks_per_node, most = sums && !s_.overcommit ? s_.num_tasks : kManyTasks;
  open_.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    const uint32_t kind = nodes_.kind_index(id);
    const bool promised = filter_ && filter_->promised().test(at);
    uint32_t n = c_.idle_tasks[kind];
    if (promised || caps_.contains(id) || (!whole && !by_count[kind])) n = look(id).tasks;
    else if (!whole) n = std::min(count_on(id, nodes_.units_free(id)), most);
    if (n < wanted) n = kNoTasks;
    if (n == kNoTasks) out.reset(at);
    else if (sums) tasks[id] = n;
  });
  return out;
}

// Nodes of a higher tier (asleep, or of more weight) are used only where those of lower tiers are not enough: weight takes precedence over
// topology (guide topology).
bool Gang::within_topology() {
  const TopologyWish want = wish_of(c_, required_);
  if (!want.nodes) return false;
  // A job that fits on one shared node is best placed where least is left, wherever that is.
  const bool small = !s_.whole && !s_.grow && !s_.segment && want.nodes == 1;
  if (small && c_.topology->kind() != TopologyKind::kTorus3d && choose_in(open_) && picks().size() == 1) return true;
  std::vector<uint32_t> tasks;
  const Bitmap able_nodes = able(tasks);
  Bitmap open(nodes_.size());
  TopologySupply supply{open, [&](uint32_t id) { return tasks[id]; }, [&](uint32_t id) { return devices({.node = id}, 0); },
                        [&](uint32_t id) { return nodes_.units_free(id); }};
  const Bitmap required = required_;
  bool too_wide = false, found = false;
  auto attempt = [&](const Bitmap& among, const Bitmap& forced) {
    required_ = forced;
    const bool fits = choose_in(among);
    required_ = required;
    return fits;
  };
  for (const Bitmap& tier : nodes_.tiers()) {
    const Bitmap more = (able_nodes & tier) - open;
    if (more.none()) continue;
    open |= more;
    if (open.count() < want.nodes) continue;
    if (!TopologyChoice(*c_.topology, params_.topology, want, supply, attempt).choose()) continue;
    found = true;
    too_wide = s_.switches && c_.topology->kind() == TopologyKind::kTree && switches() > s_.switches;
    if (!too_wide) break;
  }
  if (!found) return false;
  if (too_wide && waited_ < patience(s_, params_)) {
    detail_ = "waits for nodes within " + std::to_string(s_.switches) + " leaf switches";
    chooser_.take();
    return false;
  }
  return true;
}

// --contiguous: the numbers of the nodes have no gap.
bool Gang::runs_of_neighbours(const Bitmap& open) {
  Candidates list;
  open.for_each([&](size_t id) {
    Candidate got = look(static_cast<uint32_t>(id));
    if (got.tasks != kNoTasks) list.push_back(got);
  });
  return chooser_.neighbours(list, required_);
}

}  // namespace muster::sched
