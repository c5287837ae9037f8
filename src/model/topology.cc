#include "model/topology.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/partition.h"

namespace muster {
namespace {

// Computes heights depth-first over the children. `level` 0: not seen, else height + 1.
bool measure(const Topology& tree, uint32_t unit, size_t depth, std::vector<uint32_t>& level) {
  if (depth > kMaxSwitchDepth) return false;
  if (level[unit]) return true;
  uint32_t height = 0;
  for (uint32_t c : tree.units[unit].children) {
    if (!measure(tree, c, depth + 1, level)) return false;
    height = std::max(height, level[c]);
  }
  level[unit] = height + 1;
  return true;
}

void collect(const Topology& topology, uint32_t unit, size_t depth, std::vector<uint32_t>& out) {
  const TopologyUnit& u = topology.units[unit];
  for (uint32_t n : u.nodes)
    if (n != kNoNode) out.push_back(n);
  if (depth < kMaxSwitchDepth)
    for (uint32_t c : u.children) collect(topology, c, depth + 1, out);
}

void insert_sorted(std::vector<uint32_t>& nodes, uint32_t node) {
  auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (at == nodes.end() || *at != node) nodes.insert(at, node);
}

std::unexpected<Error> refuse(std::string_view item, std::string why, std::string hint = {}) {
  return fail(Errc::kInvalidArgument, "Topology=" + std::string(item) + ": " + std::move(why), std::move(hint));
}

std::string known_units(const Topology& t) {
  std::string out;
  for (const TopologyUnit& u : t.units) {
    if (out.size() > 200) return "known: " + out + ", …";
    out += (out.empty() ? "" : ", ") + u.name;
  }
  return out.empty() ? "it has none" : "known: " + out;
}

std::optional<uint32_t> place_of(const Topology& t, std::string_view name) {
  for (uint32_t i = 0; i < t.units.size(); ++i)
    if (t.units[i].name == name) return i;
  return std::nullopt;
}

using Words = std::vector<std::string_view>;

Result<> place_in_tree(Topology& topology, uint32_t node, const Words& path, std::string_view item) {
  std::optional<uint32_t> above;
  for (size_t index = 0; index < path.size(); ++index) {
    if (path[index].empty() || path[index].size() > 64) return refuse(item, "a switch has a name of at most 64 characters");
    std::optional<uint32_t> at = place_of(topology, path[index]);
    if (!at && path.size() == 1)
      return refuse(item, "there is no switch " + std::string(path[index]),
                    known_units(topology) + "; a path such as " + topology.name + ":top:" + std::string(path[index]) + " makes a new one");
    if (!at) {
      at = static_cast<uint32_t>(topology.units.size());
      topology.units.push_back({.name = std::string(path[index])});
    }
    if (above) {
      TopologyUnit& parent = topology.units[*above];
      if (!parent.nodes.empty()) return refuse(item, parent.name + " has nodes, so no switches can be below it");
      if (std::ranges::find(parent.children, *at) == parent.children.end()) parent.children.push_back(*at);
    }
    above = at;
  }
  if (!topology.units[*above].children.empty())
    return refuse(item, topology.units[*above].name + " has switches below it, so it can have no nodes");
  if (switch_levels(topology).empty())
    return refuse(item, "a switch would be below itself, or more than " + std::to_string(kMaxSwitchDepth) + " levels deep");
  insert_sorted(topology.units[*above].nodes, node);
  return {};
}

Result<> place_in_block(Topology& t, uint32_t node, const Words& path, std::string_view item) {
  if (path.size() != 1) return refuse(item, "a block is one name");
  auto at = place_of(t, path[0]);
  if (!at) return refuse(item, "there is no block " + std::string(path[0]), known_units(t));
  insert_sorted(t.units[*at].nodes, node);
  return {};
}

Result<> place_in_ring(Topology& topology, uint32_t node, const Words& path, std::string_view item) {
  const auto position = path.size() == 2 ? parse_number<uint32_t>(path[1], 0, kMaxRingNodes - 1) : std::nullopt;
  if (!position) return refuse(item, "a ring and a position from 0 to 15 are wanted, ring1:2");
  auto at = place_of(topology, path[0]);
  if (!at && *position != 0) return refuse(item, "the first node of a new ring has position 0");
  if (!at) {
    at = static_cast<uint32_t>(topology.units.size());
    topology.units.push_back({.name = std::string(path[0])});
  }
  auto& nodes = topology.units[*at].nodes;
  if (*position > nodes.size())
    return refuse(item, "the ring has " + std::to_string(nodes.size()) + " positions; the next is " + std::to_string(nodes.size()));
  if (*position == nodes.size()) nodes.push_back(kNoNode);
  if (nodes[*position] != kNoNode) return refuse(item, "another node has this position");
  nodes[*position] = node;
  return {};
}

Result<> place_in_torus(Topology& topology, uint32_t node, const Words& path, std::string_view item) {
  if (path.size() != 4) return refuse(item, "a torus and its coordinates are wanted, pod1:2:3:1");
  auto at = place_of(topology, path[0]);
  if (!at) return refuse(item, "there is no torus " + std::string(path[0]), known_units(topology));
  TopologyUnit& u = topology.units[*at];
  const auto x = parse_number<uint32_t>(path[1], 0, u.dims.x - 1);
  const auto y = parse_number<uint32_t>(path[2], 0, u.dims.y - 1);
  const auto z = parse_number<uint32_t>(path[3], 0, u.dims.z - 1);
  if (!x || !y || !z)
    return refuse(item, u.name + " has coordinates up to " + std::to_string(u.dims.x - 1) + ":" + std::to_string(u.dims.y - 1) + ":" +
                            std::to_string(u.dims.z - 1));
  uint32_t& cell = u.nodes[*x + u.dims.x * (*y + u.dims.y * *z)];
  if (cell != kNoNode) return refuse(item, "another node is there");
  cell = node;
  return {};
}

void take_out(Topology& t, uint32_t node) {
  const bool keeps_places = t.kind == TopologyKind::kRing || t.kind == TopologyKind::kTorus3d;
  for (TopologyUnit& u : t.units) {
    if (keeps_places) std::ranges::replace(u.nodes, node, kNoNode);
    else if (auto at = std::lower_bound(u.nodes.begin(), u.nodes.end(), node); at != u.nodes.end() && *at == node) u.nodes.erase(at);
  }
}

}  // namespace

const TopologyUnit* Topology::unit(std::string_view unit_name) const {
  const auto at = place_of(*this, unit_name);
  return at ? &units[*at] : nullptr;
}

const Topology* Topologies::find(std::string_view name) const {
  for (const Topology& t : all)
    if (t.name == name) return &t;
  return nullptr;
}

const Topology* Topologies::cluster_default() const {
  for (const Topology& t : all)
    if (t.cluster_default) return &t;
  return all.empty() ? nullptr : &all.front();
}

const Topology* Topologies::of(const Partition& partition) const {
  if (!partition.topology.empty())
    if (const Topology* t = find(partition.topology)) return t;
  return cluster_default();
}

std::string_view topology_kind_name(TopologyKind kind) {
  constexpr std::string_view kNames[] = {"flat", "tree", "block", "ring", "torus3d"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view topology_unit_name(TopologyKind kind) {
  constexpr std::string_view kNames[] = {"", "switch", "block", "ring", "torus"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<uint32_t> switch_levels(const Topology& tree) {
  std::vector<uint32_t> level(tree.units.size(), 0);
  for (uint32_t i = 0; i < tree.units.size(); ++i)
    if (!measure(tree, i, 0, level)) return {};
  for (uint32_t& l : level) --l;
  return level;
}

std::vector<uint32_t> nodes_below(const Topology& topology, uint32_t unit) {
  std::vector<uint32_t> out;
  collect(topology, unit, 0, out);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<> place_node(Topologies& topologies, uint32_t node, std::string_view text) {
  Topologies changed = topologies;
  for (Topology& t : changed.all) take_out(t, node);
  for (std::string_view item : split(text, ',')) {
    item = trim(item);
    if (item.empty()) continue;
    Words path = split(item, ':', true);
    auto topology = std::ranges::find(changed.all, path[0], &Topology::name);
    if (topology == changed.all.end()) return refuse(item, "there is no topology " + std::string(path[0]));
    path.erase(path.begin());
    if (path.empty() && topology->kind != TopologyKind::kFlat)
      return refuse(item, "the " + std::string(topology_unit_name(topology->kind)) + " is missing", topology->name + ":NAME");
    switch (topology->kind) {
      case TopologyKind::kFlat:
        if (!path.empty()) return refuse(item, topology->name + " is flat: it has no units");
        break;
      case TopologyKind::kTree: MUSTER_TRY_VOID(place_in_tree(*topology, node, path, item)); break;
      case TopologyKind::kBlock: MUSTER_TRY_VOID(place_in_block(*topology, node, path, item)); break;
      case TopologyKind::kRing: MUSTER_TRY_VOID(place_in_ring(*topology, node, path, item)); break;
      case TopologyKind::kTorus3d: MUSTER_TRY_VOID(place_in_torus(*topology, node, path, item)); break;
    }
  }
  topologies = std::move(changed);
  return {};
}

std::string placed_at(const Topologies& topologies, uint32_t node) {
  std::string out;
  for (const Topology& t : topologies.all)
    for (const TopologyUnit& u : t.units) {
      const auto at = std::ranges::find(u.nodes, node);
      if (at == u.nodes.end()) continue;
      const auto place = static_cast<uint32_t>(at - u.nodes.begin());
      out += (out.empty() ? "" : ",") + t.name + ":" + u.name;
      if (t.kind == TopologyKind::kRing) out += ":" + std::to_string(place);
      if (t.kind == TopologyKind::kTorus3d)
        out += ":" + std::to_string(place % u.dims.x) + ":" + std::to_string(place / u.dims.x % u.dims.y) + ":" +
               std::to_string(place / u.dims.x / u.dims.y);
    }
  return out;
}

TopologyAddress topology_address(const Topology* topology, uint32_t node, std::string_view node_name) {
  TopologyAddress out;
  if (!topology || topology->kind != TopologyKind::kTree) return out;
  const std::vector<uint32_t> level = switch_levels(*topology);
  if (level.empty()) return {std::string(node_name), "node"};
  std::vector<bool> above(topology->units.size(), false);
  uint32_t top = 0;
  const uint32_t highest = *std::ranges::max_element(level);
  for (uint32_t height = 0; height <= highest; ++height)
    for (uint32_t i = 0; i < topology->units.size(); ++i) {
      if (level[i] != height) continue;
      const TopologyUnit& u = topology->units[i];
      above[i] = height == 0 ? std::binary_search(u.nodes.begin(), u.nodes.end(), node)
                             : std::ranges::any_of(u.children, [&](uint32_t c) { return above[c]; });
      if (above[i]) top = height;
    }
  for (uint32_t height = top + 1; height-- > 0;) {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < topology->units.size(); ++i)
      if (above[i] && level[i] == height) names.push_back(topology->units[i].name);
    if (names.empty()) continue;
    out.address += compress_hosts(names) + ".";
    out.pattern += "switch.";
  }
  out.address += node_name;
  out.pattern += "node";
  return out;
}

}  // namespace muster
