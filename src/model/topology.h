// Topology: how the network connects nodes, as a site describes it: a tree of switches, blocks, rings or 3D tori (topology.conf(5),
// topology.yaml(5), guide topology). A site has one or several; each partition names the one it uses. How placement uses them is in
// sched/topology_*.h. Nodes are NodeIds; only leaf switches, blocks, rings and tori have nodes, and switches above have children. A
// switch may have several parents. kNoNode: an empty place of a ring or a torus.
//
// Cost: O(nodes + units) for each function, except find() and of(): O(topologies).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"

namespace muster {

struct Partition;

enum class TopologyKind : uint8_t { kFlat, kTree, kBlock, kRing, kTorus3d };

inline constexpr uint32_t kNoNode = 0xffffffffu;
inline constexpr size_t kMaxRingNodes = 16;
inline constexpr size_t kMaxSwitchDepth = 16;

struct Cell3d {
  uint32_t x = 0, y = 0, z = 0;
  uint64_t product() const { return uint64_t{x} * y * z; }
  bool operator==(const Cell3d&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "x", self.x);
    field(2, "y", self.y);
    field(3, "z", self.z);
  }
};

// A shape that jobs may have in a torus, and the cells where it may begin.
struct TorusPlacement {
  Cell3d dims, anchor_seed, anchor_spacing;
  bool operator==(const TorusPlacement&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "dims", self.dims);
    field(2, "anchor_seed", self.anchor_seed);
    field(3, "anchor_spacing", self.anchor_spacing);
  }
};

// A switch, a block, a ring or a torus.
struct TopologyUnit {
  std::string name;
  std::vector<uint32_t> nodes;     // ring: by position; torus: by cell, x fastest; else ascending
  std::vector<uint32_t> children;  // of a switch: places in Topology::units
  std::string link_speed;
  Cell3d dims;  // of a torus
  std::vector<TorusPlacement> placements;
  bool operator==(const TopologyUnit&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "nodes", self.nodes);
    field(3, "children", self.children);
    field(4, "link_speed", self.link_speed);
    field(5, "dims", self.dims);
    field(6, "placements", self.placements);
  }
};

struct Topology {
  std::string name;
  TopologyKind kind = TopologyKind::kFlat;
  bool cluster_default = false;
  bool alpha_step_rank = false;       // flat: tasks follow the names of nodes, not their numbers
  std::vector<TopologyUnit> units;    // in the order of definition
  std::vector<uint32_t> block_sizes;  // ascending; the first is the planning size of a base block
  const TopologyUnit* unit(std::string_view unit_name) const;
  bool operator==(const Topology&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "kind", self.kind);
    field(3, "cluster_default", self.cluster_default);
    field(4, "alpha_step_rank", self.alpha_step_rank);
    field(5, "units", self.units);
    field(6, "block_sizes", self.block_sizes);
  }
};

struct Topologies {
  std::vector<Topology> all;  // empty: flat
  const Topology* find(std::string_view name) const;
  // The first topology with cluster_default, else the first; null: flat.
  const Topology* cluster_default() const;
  // The topology that places jobs of the partition; null: flat.
  const Topology* of(const Partition& partition) const;
  bool operator==(const Topologies&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "all", self.all);
  }
};
using TopologiesPtr = std::shared_ptr<const Topologies>;

std::string_view topology_kind_name(TopologyKind kind);  // "tree"
// What one unit is called: "switch", "block", "ring", "torus"; "" for flat.
std::string_view topology_unit_name(TopologyKind kind);

// Height of each switch over its lowest leaf, 0 for leaves; empty when some switch is below itself.
std::vector<uint32_t> switch_levels(const Topology& tree);
// The nodes of the unit and of all units below it, ascending, without empty places.
std::vector<uint32_t> nodes_below(const Topology& topology, uint32_t unit);

// Applies Topology= of a node, "tree0:spine:leaf1,blocks:b2": takes the node out of where it is and puts it there. Missing switches of
// a path are made, and so is a ring for position 0. "" leaves the node nowhere. The error names the rule; nothing has changed then.
Result<> place_node(Topologies& topologies, uint32_t node, std::string_view text);
// The same text for a node that has a place: each topology and the unit that holds the node.
std::string placed_at(const Topologies& topologies, uint32_t node);

// SLURM_TOPOLOGY_ADDR and its pattern: the switches from the top down to the node, "spine.leaf1.n3" and
// "switch.switch.node"; several switches of one level as a host list. Empty: the topology is no tree.
struct TopologyAddress {
  std::string address, pattern;
};
TopologyAddress topology_address(const Topology* topology, uint32_t node, std::string_view node_name);

}  // namespace muster
