#include "sched/supply/topology_index.h"

#include <algorithm>
#include <set>

namespace muster::sched {

TopologyIndex::TopologyIndex(TopologiesPtr all, const Topology& of, uint32_t size)
    : all_(std::move(all)), of_(of), leaf_of_(size, kNoLeaf) {
  for (uint32_t i = 0; i < of_.units.size(); ++i) {
    if (!of_.units[i].children.empty()) continue;
    const auto leaf = static_cast<uint32_t>(leaf_units_.size());
    leaf_units_.push_back(i);
    for (uint32_t n : of_.units[i].nodes)
      if (n < size && leaf_of_[n] == kNoLeaf) leaf_of_[n] = leaf;
  }
  if (kind() == TopologyKind::kTree) build_tree();
  if (kind() == TopologyKind::kBlock) build_blocks();
  if (kind() == TopologyKind::kTorus3d) build_stands();
}

uint32_t TopologyIndex::leaves_of(const Bitmap& nodes) const {
  std::vector<bool> seen(leaves(), false);
  uint32_t n = 0;
  nodes.for_each([&](size_t id) {
    const uint32_t leaf = leaf_of(static_cast<uint32_t>(id));
    if (leaf != kNoLeaf && seen[leaf]) return;
    if (leaf != kNoLeaf) seen[leaf] = true;
    ++n;
  });
  return n;
}

Bitmap TopologyIndex::leaf_mates(const Bitmap& nodes) const {
  std::vector<bool> seen(leaves(), false);
  Bitmap out(leaf_of_.size());
  nodes.for_each([&](size_t id) {
    const uint32_t l = leaf_of(static_cast<uint32_t>(id));
    if (l == kNoLeaf || seen[l]) return;
    seen[l] = true;
    for (uint32_t n : leaf(l).nodes)
      if (n < leaf_of_.size()) out.set(n);
  });
  return out - nodes;
}

void TopologyIndex::build_tree() {
  const std::vector<uint32_t> height = switch_levels(of_);
  if (height.empty()) return;
  std::vector<uint32_t> leaf_number(of_.units.size(), kNoLeaf);
  for (uint32_t l = 0; l < leaves(); ++l) leaf_number[leaf_units_[l]] = l;
  std::vector<Group> below(of_.units.size());
  const uint32_t top = height.empty() ? 0 : *std::ranges::max_element(height);
  std::set<Group> seen;
  levels_.resize(top);
  for (uint32_t level = 0; level <= top; ++level)
    for (uint32_t i = 0; i < of_.units.size(); ++i) {
      if (height[i] != level) continue;
      Group& g = below[i];
      if (level == 0) {
        g.push_back(leaf_number[i]);
        continue;
      }
      for (uint32_t c : of_.units[i].children) g.insert(g.end(), below[c].begin(), below[c].end());
      std::ranges::sort(g);
      g.erase(std::unique(g.begin(), g.end()), g.end());
      if (seen.insert(g).second) levels_[level - 1].push_back(g);
    }
  const bool all_in_one =
      leaves() <= 1 || (top > 0 && std::ranges::any_of(levels_[top - 1], [&](const Group& g) { return g.size() == leaves(); }));
  connected_ = all_in_one && std::ranges::find(leaf_of_, kNoLeaf) == leaf_of_.end();
}

// Aggregated blocks: each is so many neighbouring base blocks, in the order of definition.
void TopologyIndex::build_blocks() {
  for (size_t l = 1; l < of_.block_sizes.size(); ++l) {
    const uint32_t each = of_.block_sizes[l] / of_.block_sizes[0];
    std::vector<Group>& groups = levels_.emplace_back();
    for (uint32_t first = 0; first < leaves(); first += each) {
      Group& g = groups.emplace_back();
      for (uint32_t b = first; b < std::min(first + each, leaves()); ++b) g.push_back(b);
    }
  }
}

void TopologyIndex::build_stands() {
  for (uint32_t l = 0; l < leaves(); ++l)
    for (const TorusPlacement& p : leaf(l).placements) add_stands(l, p);
  stands_at_.resize(leaf_of_.size());
  for (uint32_t s = 0; s < stands_.size(); ++s)
    for (uint32_t n : stands_[s].nodes) stands_at_[n].push_back(s);
}

// Adds the stands of one placement: anchors form a grid that begins at the seed, and a shape may wrap around each edge. A stand with an
// empty cell does not count.
void TopologyIndex::add_stands(uint32_t number, const TorusPlacement& placement) {
  const TopologyUnit& torus = leaf(number);
  const Cell3d& dims = torus.dims;
  std::set<std::vector<uint32_t>> seen;
  for (uint32_t az = 0; az < dims.z; az += placement.anchor_spacing.z)
    for (uint32_t ay = 0; ay < dims.y; ay += placement.anchor_spacing.y)
      for (uint32_t ax = 0; ax < dims.x; ax += placement.anchor_spacing.x) {
        Stand stand{number, {}};
        bool complete = true;
        for (uint32_t i = 0; i < placement.dims.product() && complete; ++i) {
          const uint32_t x = (placement.anchor_seed.x + ax + i % placement.dims.x) % dims.x;
          const uint32_t y = (placement.anchor_seed.y + ay + i / placement.dims.x % placement.dims.y) % dims.y;
          const uint32_t z = (placement.anchor_seed.z + az + i / placement.dims.x / placement.dims.y) % dims.z;
          const uint32_t node = torus.nodes[x + dims.x * (y + dims.y * z)];
          complete = node < leaf_of_.size();
          stand.nodes.push_back(node);
        }
        if (!complete) continue;
        std::ranges::sort(stand.nodes);
        if (seen.insert(stand.nodes).second) stands_.push_back(std::move(stand));
      }
}

std::span<const uint32_t> TopologyIndex::stands_at(uint32_t node) const {
  if (node >= stands_at_.size()) return {};
  return stands_at_[node];
}

std::shared_ptr<const TopologyIndex> TopologyCache::of(const TopologiesPtr& all, const Partition& partition, uint32_t size) {
  if (!all) return nullptr;
  if (all_ != all || size_ != size) {
    all_ = all;
    size_ = size;
    built_.assign(all->all.size(), nullptr);
  }
  const Topology* of = all->of(partition);
  if (!of || of->kind == TopologyKind::kFlat) return nullptr;
  auto& at = built_[static_cast<size_t>(of - all->all.data())];
  if (!at) at = std::make_shared<const TopologyIndex>(all, *of, size);
  return at;
}

}  // namespace muster::sched
