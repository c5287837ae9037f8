#include "sched/topology/segments.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace muster::sched {
namespace {

bool falls_apart(const Topology* t, size_t nodes, uint32_t size) { return t && t->kind == TopologyKind::kBlock && size && nodes > size; }

// How many base blocks, one after another, are the smallest block with room for a segment.
uint32_t blocks_around(const Topology& t, uint32_t size) {
  const auto level = std::ranges::lower_bound(t.block_sizes, size);
  return level == t.block_sizes.end() ? static_cast<uint32_t>(std::max<size_t>(t.units.size(), 1)) : *level / t.block_sizes.front();
}

// By node: which of those blocks it is in.
std::unordered_map<uint32_t, uint32_t> places(const Topology& t, uint32_t each) {
  std::unordered_map<uint32_t, uint32_t> out;
  uint32_t base = 0;
  for (const TopologyUnit& unit : t.units) {
    if (!unit.children.empty()) continue;
    for (uint32_t node : unit.nodes) out[node] = base / each;
    ++base;
  }
  return out;
}

}  // namespace

uint32_t segments_in(const Topology* topology, uint32_t nodes, uint32_t size) {
  return falls_apart(topology, nodes, size) ? (nodes + size - 1) / size : 1;
}

std::vector<uint32_t> segments_of(const Topology* topology, const Allocation& allocation, uint32_t size) {
  std::vector<uint32_t> out(allocation.nodes.size(), 0);
  if (!falls_apart(topology, allocation.nodes.size(), size)) return out;
  const auto place = places(*topology, blocks_around(*topology, size));
  std::map<std::pair<uint32_t, uint32_t>, size_t> in_order;  // block and node → index; nodes of no block come last
  for (size_t i = 0; i < allocation.nodes.size(); ++i) {
    const uint32_t node = allocation.nodes[i].node.value;
    const auto at = place.find(node);
    in_order[{at == place.end() ? kNoNode : at->second, node}] = i;
  }
  uint32_t segment = 0, filled = 0, block = in_order.begin()->first.first;
  for (const auto& [where, index] : in_order) {
    if (filled == size || (filled && where.first != block)) ++segment, filled = 0;
    block = where.first;
    out[index] = segment;
    ++filled;
  }
  return out;
}

}  // namespace muster::sched
