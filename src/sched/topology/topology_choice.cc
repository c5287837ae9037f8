#include "sched/topology/topology_choice.h"

#include <algorithm>

namespace muster::sched {

TopologyWish wish_of(const RequestClass& asked, const Bitmap& required) {
  const Shape& s = asked.shape;
  TopologyWish out{s, required};
  uint32_t least = std::max<uint32_t>(1, static_cast<uint32_t>(required.count()));
  if (s.num_tasks && !s.overcommit) {
    const uint32_t each = std::max(asked.best_idle_tasks, 1u);
    least = std::max(least, (s.num_tasks + each - 1) / each);
    out.tasks = s.num_tasks;
  }
  if (!s.per_job.empty()) out.devices = s.per_job[0].count;
  out.nodes = s.nodes_from(least);
  return out;
}

TopologyChoice::TopologyChoice(const TopologyIndex& index, const TopologyRules& rules, const TopologyWish& wish,
                               const TopologySupply& supply, Try attempt)
    : index_(index),
      rules_(rules),
      wish_(wish),
      supply_(supply),
      attempt_(std::move(attempt)),
      leaf_supply_(index.leaves()),
      needs_leaf_(index.leaves(), false) {
  supply.open.for_each([&](size_t id) {
    const auto node = static_cast<uint32_t>(id);
    const uint32_t leaf = index_.leaf_of(node);
    if (leaf == TopologyIndex::kNoLeaf) return;
    Supply& s = leaf_supply_[leaf];
    ++s.nodes;
    if (wish_.tasks) s.tasks += supply_.tasks(node);
    if (wish_.devices) s.devices += supply_.devices(node);
  });
  wish.required.for_each([&](size_t id) {
    const uint32_t leaf = index_.leaf_of(static_cast<uint32_t>(id));
    if (leaf == TopologyIndex::kNoLeaf) {
      required_elsewhere_ = true;
    } else if (!needs_leaf_[leaf]) {
      needs_leaf_[leaf] = true;
      ++required_leaves_;
    }
  });
}

bool TopologyChoice::choose() {
  if (!wish_.nodes || !supply_.open.contains(wish_.required)) return false;
  switch (index_.kind()) {
    case TopologyKind::kFlat: return attempt_(supply_.open, wish_.required);
    case TopologyKind::kTree: return tree();
    case TopologyKind::kBlock: return block();
    case TopologyKind::kRing: return ring();
    case TopologyKind::kTorus3d: return torus();
  }
  return false;
}

TopologyChoice::Supply& TopologyChoice::Supply::operator+=(const Supply& o) {
  nodes += o.nodes;
  tasks += o.tasks;
  devices += o.devices;
  return *this;
}

bool TopologyChoice::enough(const Supply& s) const {
  return s.nodes >= wish_.nodes && s.tasks >= wish_.tasks && s.devices >= wish_.devices;
}

// Compares by what is scarce for the job; among equals the leaf defined first.
bool TopologyChoice::roomier(uint32_t a, uint32_t b) const {
  const Supply &x = leaf_supply_[a], &y = leaf_supply_[b];
  if (wish_.devices && x.devices != y.devices) return x.devices > y.devices;
  if (wish_.tasks && x.tasks != y.tasks) return x.tasks > y.tasks;
  if (x.nodes != y.nodes) return x.nodes > y.nodes;
  return a < b;
}

TopologyChoice::Supply TopologyChoice::sum_of(std::span<const uint32_t> leaves) const {
  Supply sum;
  for (uint32_t l : leaves) sum += leaf_supply_[l];
  return sum;
}

Bitmap TopologyChoice::open_in(std::span<const uint32_t> leaves) const {
  Bitmap out(supply_.open.size());
  for (uint32_t l : leaves)
    for (uint32_t n : index_.leaf(l).nodes)
      if (supply_.open.test(n)) out.set(n);
  return out;
}

bool TopologyChoice::holds_required(std::span<const uint32_t> leaves) const {
  if (required_elsewhere_) return false;
  uint32_t have = 0;
  if (required_leaves_)
    for (uint32_t l : leaves) have += needs_leaf_[l];
  return have == required_leaves_;
}

// The fewest leaves of the group that supply what is needed: those of the required nodes, then the roomiest; the last one is the leaf with
// the least to spare.
bool TopologyChoice::fewest(std::span<const uint32_t> group, Spot& out) const {
  Leaves rest;
  Supply sum;
  for (uint32_t l : group) {
    out.free_nodes += leaf_supply_[l].nodes;
    if (needs_leaf_[l]) {
      out.leaves.push_back(l);
      sum += leaf_supply_[l];
    } else if (leaf_supply_[l].nodes) {
      rest.push_back(l);
    }
  }
  if (enough(sum)) return true;
  std::ranges::sort(rest, [&](uint32_t a, uint32_t b) { return roomier(a, b); });
  for (size_t index = 0; index < rest.size(); ++index) {
    Supply with = sum;
    with += leaf_supply_[rest[index]];
    if (!enough(with)) {
      sum = with;
      out.leaves.push_back(rest[index]);
      continue;
    }
    size_t last = index;
    for (size_t j = index + 1; j < rest.size(); ++j) {
      Supply other = sum;
      other += leaf_supply_[rest[j]];
      if (!enough(other)) break;
      if (leaf_supply_[rest[j]].nodes < leaf_supply_[rest[last]].nodes) last = j;
    }
    out.leaves.push_back(rest[last]);
    out.exact_but_last = true;
    return true;
  }
  return false;
}

bool TopologyChoice::try_spot(const Spot& spot, std::span<const uint32_t> group) {
  Bitmap among = open_in(spot.leaves);
  if (spot.exact_but_last && spot.leaves.size() > 1) {
    const std::span<const uint32_t> all(spot.leaves);
    if (attempt_(among, open_in(all.first(all.size() - 1)) | wish_.required)) return true;
  }
  if (attempt_(among, wish_.required)) return true;
  // Counting promised too much (say, more nodes than the job may have): adds leaf after leaf.
  Leaves rest;
  for (uint32_t l : group)
    if (leaf_supply_[l].nodes && std::ranges::find(spot.leaves, l) == spot.leaves.end()) rest.push_back(l);
  std::ranges::sort(rest, [&](uint32_t a, uint32_t b) { return roomier(a, b); });
  for (uint32_t l : rest) {
    among |= open_in(std::span(&l, 1));
    if (attempt_(among, wish_.required)) return true;
  }
  return false;
}

bool TopologyChoice::try_exact(const std::vector<uint32_t>& nodes) {
  Bitmap set(supply_.open.size());
  for (uint32_t n : nodes) set.set(n);
  return set.contains(wish_.required) && attempt_(set, set);
}

bool TopologyChoice::try_single_leaves() {
  Leaves fit;
  for (uint32_t l = 0; l < index_.leaves(); ++l)
    if (enough(leaf_supply_[l]) && holds_required(std::span(&l, 1))) fit.push_back(l);
  std::ranges::stable_sort(fit, {}, [&](uint32_t l) { return leaf_supply_[l].nodes; });
  for (uint32_t l : fit)
    if (attempt_(open_in(std::span(&l, 1)), wish_.required)) return true;
  return false;
}

bool TopologyChoice::try_groups(const std::vector<Leaves>& groups, bool in_a_row, uint32_t most_leaves) {
  struct At {
    Spot spot;
    const Leaves* group;
  };
  std::vector<At> spots;
  for (const Leaves& g : groups) {
    if (!holds_required(g) || !enough(sum_of(g))) continue;
    At at{{}, &g};
    if (!fewest(g, at.spot) || at.spot.leaves.size() > most_leaves) continue;
    if (in_a_row) neighbours(g, at.spot);
    spots.push_back(std::move(at));
  }
  std::ranges::stable_sort(spots, [](const At& a, const At& b) {
    if (a.spot.leaves.size() != b.spot.leaves.size()) return a.spot.leaves.size() < b.spot.leaves.size();
    return a.spot.free_nodes < b.spot.free_nodes;
  });
  for (const At& at : spots)
    if (try_spot(at.spot, *at.group)) return true;
  return false;
}

// Calls f with the node counts that the job may have, in the order in which to try them: from the most for a job with a range, else
// upwards.
bool TopologyChoice::for_each_size(uint32_t most, const std::function<bool(uint32_t)>& f) const {
  constexpr uint32_t kMostSizes = 64;
  const Shape& shape = wish_.shape;
  if (shape.grow) {
    uint32_t left = std::min(kMostSizes, rules_.max_size_unroll);
    for (uint32_t n = shape.nodes_up_to(most); n >= wish_.nodes && n > 0 && left > 0; n = shape.nodes_up_to(n - 1)) {
      --left;
      if (f(n)) return true;
      if (n == wish_.nodes) return false;
    }
    return f(wish_.nodes);
  }
  uint32_t left = kMostSizes;
  for (uint32_t n = wish_.nodes; n > 0 && n <= most && left > 0; n = shape.nodes_from(n + 1), --left)
    if (f(n)) return true;
  return false;
}

// ---- tree

bool TopologyChoice::tree() {
  const uint32_t least = wish_.nodes;
  if (wish_.shape.grow) {
    wish_.nodes = std::max(least, wish_.shape.nodes_up_to(static_cast<uint32_t>(supply_.open.count())));
    if (wish_.nodes > least && within_tree()) return true;
    wish_.nodes = least;
  }
  return within_tree();
}

bool TopologyChoice::within_tree() {
  if (try_single_leaves() || unconnected()) return true;
  if (rules_.dragonfly) return dragonfly();
  if (wish_.shape.switches && within_switches()) return true;
  for (const auto& level : index_.levels())
    if (try_groups(level, false, UINT32_MAX)) return true;
  return false;
}

// --switches=N: the lowest switch under which so many leaves are enough.
bool TopologyChoice::within_switches() {
  for (const auto& level : index_.levels())
    if (try_groups(level, false, wish_.shape.switches)) return true;
  return false;
}

// A node that is under no switch can only serve a job alone.
bool TopologyChoice::unconnected() {
  if (wish_.nodes > 1 || wish_.required.count() > 1) return false;
  bool found = false;
  supply_.open.for_each([&](size_t id) {
    if (found || index_.leaf_of(static_cast<uint32_t>(id)) != TopologyIndex::kNoLeaf) return;
    found = try_exact({static_cast<uint32_t>(id)});
  });
  return found;
}

bool TopologyChoice::dragonfly() {
  if (index_.levels().empty()) return false;
  for (const Leaves& group : index_.levels().back()) {
    if (!holds_required(group) || !enough(sum_of(group))) continue;
    std::vector<std::vector<uint32_t>> of_leaf;
    for (uint32_t l : group) of_leaf.push_back(best_nodes(l, leaf_supply_[l].nodes));
    std::vector<uint32_t> round_robin;
    for (size_t i = 0; round_robin.size() < sum_of(group).nodes; ++i)
      for (const auto& nodes : of_leaf)
        if (i < nodes.size()) round_robin.push_back(nodes[i]);
    const bool found = for_each_size(static_cast<uint32_t>(round_robin.size()), [&](uint32_t n) {
      return try_exact({round_robin.begin(), round_robin.begin() + n});
    });
    if (found) return true;
  }
  return false;
}

// Free nodes of a leaf: the required ones, then the cheapest, then by number.
std::vector<uint32_t> TopologyChoice::best_nodes(uint32_t leaf, uint32_t count) const {
  std::vector<uint32_t> nodes;
  for (uint32_t n : index_.leaf(leaf).nodes)
    if (n != kNoNode && supply_.open.test(n)) nodes.push_back(n);
  std::ranges::stable_sort(nodes, [&](uint32_t a, uint32_t b) {
    const bool ra = wish_.required.test(a), rb = wish_.required.test(b);
    return ra != rb ? ra : supply_.cost(a) < supply_.cost(b);
  });
  nodes.resize(std::min<size_t>(nodes.size(), count));
  return nodes;
}

}  // namespace muster::sched
