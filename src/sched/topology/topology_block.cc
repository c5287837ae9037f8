// Blocks and segments.
//
// --segment=s: the job is made of nodes/s segments, each within one block of the smallest size that holds s nodes. The segments stand
// together in the smallest aggregated block that has room for all: always so with --consolidate-segments; without it, where no such block
// is free, anywhere in the fewest blocks. --spread-segments: no base block has nodes of two segments. A job of at most s nodes is one
// segment and needs nothing special.
#include <algorithm>

#include "sched/topology/topology_choice.h"

namespace muster::sched {

size_t TopologyChoice::level_for(uint32_t nodes) const {
  const auto& sizes = index_.topology().block_sizes;
  return static_cast<size_t>(std::ranges::lower_bound(sizes, nodes) - sizes.begin());
}

bool TopologyChoice::block() {
  uint32_t open = 0;
  for (const Supply& s : leaf_supply_) open += s.nodes;
  const uint32_t segment = wish_.shape.segment;
  return for_each_size(open, [&](uint32_t n) {
    if (!segment || n <= segment) return block_of(n);
    return n % segment == 0 && segments(n);
  });
}

bool TopologyChoice::block_of(uint32_t nodes) {
  const size_t level = level_for(nodes);
  const bool one_size = wish_.shape.grow || wish_.shape.nodes_from(nodes + 1) == 0;
  if (!one_size && level == tried_level_) return false;  // no more room for a higher count
  tried_level_ = level;
  wish_.nodes = nodes;
  if (level == 0) return try_single_leaves();
  if (level <= index_.levels().size()) return try_groups(index_.levels()[level - 1], true, UINT32_MAX);
  return beyond_blocks();
}

// For a job larger than all sizes: the fewest neighbouring groups of the largest size.
bool TopologyChoice::beyond_blocks() {
  std::vector<Leaves> groups;
  if (index_.levels().empty())
    for (uint32_t l = 0; l < index_.leaves(); ++l) groups.push_back({l});
  else groups = index_.levels().back();
  std::vector<Supply> sums;
  for (const Leaves& g : groups) sums.push_back(sum_of(g));
  size_t least = groups.size() + 1;
  Supply window;
  for (size_t first = 0, end = 0; first < groups.size(); ++first) {
    while (end < groups.size() && !enough(window)) window += sums[end++];
    if (!enough(window)) break;
    least = std::min(least, end - first);
    window.nodes -= sums[first].nodes;
    window.tasks -= sums[first].tasks;
    window.devices -= sums[first].devices;
  }
  if (least > groups.size()) return false;
  constexpr size_t kMoreTries = 4;
  for (size_t n = least; n <= std::min(least + kMoreTries, groups.size()); ++n) {
    std::vector<Leaves> windows;
    for (size_t first = 0; first + n <= groups.size(); ++first) {
      Leaves& w = windows.emplace_back();
      for (size_t i = first; i < first + n; ++i) w.insert(w.end(), groups[i].begin(), groups[i].end());
    }
    if (try_groups(windows, true, UINT32_MAX)) return true;
  }
  return false;
}

// Replaces the spot's leaves by as many neighbouring ones, if there are any.
void TopologyChoice::neighbours(std::span<const uint32_t> group, Spot& spot) const {
  const size_t count = spot.leaves.size();
  if (count < 2) return;
  size_t best = SIZE_MAX;
  uint32_t least = UINT32_MAX;
  for (size_t first = 0; first + count <= group.size(); ++first) {
    const auto window = group.subspan(first, count);
    const Supply sum = sum_of(window);
    if (!holds_required(window) || !enough(sum) || sum.nodes >= least) continue;
    best = first;
    least = sum.nodes;
  }
  if (best == SIZE_MAX) return;
  const auto window = group.subspan(best, count);
  spot.leaves.assign(window.begin(), window.end());
  std::ranges::sort(spot.leaves, [&](uint32_t a, uint32_t b) { return roomier(a, b); });
  spot.exact_but_last = !enough(sum_of(std::span(spot.leaves).first(count - 1)));
}

bool TopologyChoice::segments(uint32_t nodes) {
  const size_t sizes = index_.topology().block_sizes.size();
  for (size_t level = std::max(level_for(nodes), level_for(wish_.shape.segment)); level < sizes; ++level) {
    std::vector<Leaves> containers;
    if (level == 0)
      for (uint32_t l = 0; l < index_.leaves(); ++l) containers.push_back({l});
    else containers = index_.levels()[level - 1];
    std::ranges::stable_sort(containers, {}, [&](const Leaves& c) { return sum_of(c).nodes; });
    for (const Leaves& c : containers)
      if (segments_in(c, nodes)) return true;
  }
  if (wish_.shape.consolidate_segments) return false;
  Leaves all(index_.leaves());
  for (uint32_t l = 0; l < all.size(); ++l) all[l] = l;
  return segments_in(all, nodes);
}

// Takes the blocks of the container with the most segments first; the last one is the block with the least to spare. Blocks with required
// nodes first get the segments that these nodes need.
bool TopologyChoice::segments_in(const Leaves& container, uint32_t nodes) {
  const uint32_t segment = wish_.shape.segment;
  const size_t level = level_for(segment);
  if (level >= index_.topology().block_sizes.size() || sum_of(container).nodes < nodes || !holds_required(container)) return false;
  std::vector<Leaves> units;
  if (level == 0)
    for (uint32_t l : container) units.push_back({l});
  else
    for (const Leaves& g : index_.levels()[level - 1])
      if (std::ranges::binary_search(container, g.front())) units.push_back(g);
  struct Unit {
    const Leaves* leaves;
    uint32_t segments, needed, free;
  };
  std::vector<Unit> list;
  const uint32_t wanted = nodes / segment;
  uint32_t left = wanted;
  for (const Leaves& u : units) {
    const auto n = static_cast<uint32_t>(segments_of(u, wanted).size() / segment);
    const auto required = required_leaves_ ? static_cast<uint32_t>(open_in(u).count_and(wish_.required)) : 0;
    const uint32_t needed = (required + segment - 1) / segment;
    if (needed > std::min(n, left)) return false;
    left -= needed;
    if (n) list.push_back({&u, n, needed, sum_of(u).nodes});
  }
  std::ranges::stable_sort(list, [](const Unit& a, const Unit& b) {
    if ((a.needed > 0) != (b.needed > 0)) return a.needed > 0;
    return a.segments != b.segments ? a.segments > b.segments : a.free < b.free;
  });
  std::vector<uint32_t> chosen;
  for (size_t i = 0; i < list.size() && (left > 0 || list[i].needed > 0); ++i) {
    size_t take = i;
    if (!list[i].needed && list[i].segments >= left)
      for (size_t j = i + 1; j < list.size() && list[j].segments >= left; ++j)
        if (list[j].free < list[take].free) take = j;
    const Unit& unit = list[take];
    const uint32_t beyond = std::min(left, unit.segments - unit.needed);
    left -= beyond;
    const std::vector<uint32_t> more = segments_of(*unit.leaves, unit.needed + beyond);
    chosen.insert(chosen.end(), more.begin(), more.end());
  }
  return chosen.size() == nodes && try_exact(chosen);
}

// The nodes of at most so many segments within one block, segment after segment; required nodes come first.
std::vector<uint32_t> TopologyChoice::segments_of(const Leaves& unit, uint32_t most) const {
  const uint32_t segment = wish_.shape.segment;
  const bool spread = wish_.shape.spread_segments;
  std::vector<uint32_t> out;
  if (unit.size() == 1) {
    const uint32_t fit = leaf_supply_[unit[0]].nodes / segment;
    return best_nodes(unit[0], std::min({fit, most, spread ? 1u : UINT32_MAX}) * segment);
  }
  Leaves order;
  for (uint32_t l : unit)
    if (leaf_supply_[l].nodes) order.push_back(l);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return needs_leaf_[a] != needs_leaf_[b] ? needs_leaf_[a] : roomier(a, b); });
  for (uint32_t l : order) {
    uint64_t room = uint64_t{most} * segment - std::min<uint64_t>(out.size(), uint64_t{most} * segment);
    if (spread) room = std::min<uint64_t>(room, segment - out.size() % segment);
    if (!spread) room = leaf_supply_[l].nodes;  // which of them stay is said below
    const std::vector<uint32_t> nodes = best_nodes(l, static_cast<uint32_t>(std::min<uint64_t>(room, UINT32_MAX)));
    out.insert(out.end(), nodes.begin(), nodes.end());
  }
  if (!spread) std::ranges::stable_partition(out, [&](uint32_t n) { return wish_.required.test(n); });
  out.resize(std::min<size_t>(out.size(), size_t{most} * segment) / segment * segment);
  return out;
}

Result<> topology_allows(const TopologyIndex& index, const Shape& shape) {
  const TopologyKind kind = index.kind();
  if (kind == TopologyKind::kTree || kind == TopologyKind::kFlat) return {};
  const uint32_t nodes = shape.min_nodes, segment = shape.segment;
  const bool segmented = segment && nodes > segment;
  const std::string name = index.topology().name;
  auto refuse = [&](std::string text, std::string hint = {}) {
    return fail(Errc::kRequestedNodeConfigUnavailable,
                std::string(errc_text(Errc::kRequestedNodeConfigUnavailable)) + ": " + std::move(text), std::move(hint));
  };
  if (segmented && nodes % segment && shape.nodes_from(nodes + 1) == 0)
    return refuse("--nodes=" + std::to_string(nodes) + " is no multiple of --segment=" + std::to_string(segment));
  if (kind == TopologyKind::kBlock) {
    const uint32_t largest = index.topology().block_sizes.empty() ? 0 : index.topology().block_sizes.back();
    if (segmented && segment > largest)
      return refuse("--segment=" + std::to_string(segment) + " is larger than the largest of BlockSizes, " + std::to_string(largest));
    if (segmented && shape.consolidate_segments && nodes > largest)
      return refuse("--consolidate-segments: " + std::to_string(nodes) +
                    " nodes are more than the largest of "
                    "BlockSizes, " +
                    std::to_string(largest));
  }
  if (kind == TopologyKind::kRing && (segmented ? segment : nodes) > kMaxRingNodes)
    return refuse("a ring has at most " + std::to_string(kMaxRingNodes) + " nodes", "--segment=16 makes the job of several rings");
  if (kind == TopologyKind::kTorus3d) {
    std::vector<size_t> sizes;
    for (const auto& stand : index.stands()) sizes.push_back(stand.nodes.size());
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::string known;
    bool any = false;
    for (size_t s : sizes) {
      known += (known.empty() ? "" : ", ") + std::to_string(s);
      any = any || (segmented ? s == segment : s >= nodes && shape.nodes_from(static_cast<uint32_t>(s)) == s);
    }
    if (!any)
      return refuse("topology " + name + " places jobs" + (segmented ? "' segments" : "") + " of " +
                    (known.empty() ? "no size" : known + " nodes") + " only");
  }
  return {};
}

}  // namespace muster::sched
