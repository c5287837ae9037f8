// TopologyIndex: one topology made ready for choosing nodes: the leaf of every node, and the groups of leaves that a job may stand in,
// level by level.
//
// A leaf is a leaf switch, a base block, a ring or a torus. Groups are the switches of a level, or the aggregated blocks of a size, each as
// ascending numbers of leaves; switches over the same leaves count once. Rings and tori have no groups. Immutable once built.
//
// Cost: built O(nodes + sum of the groups' leaves + cells of torus placements), looked up O(1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/time.h"
#include "model/partition.h"
#include "model/topology.h"

namespace muster::sched {

class TopologyIndex {
 public:
  static constexpr uint32_t kNoLeaf = 0xffffffffu;

  // `all` owns `of`. Node numbers are below `size`.
  TopologyIndex(TopologiesPtr all, const Topology& of, uint32_t size);

  const Topology& topology() const { return of_; }
  TopologyKind kind() const { return of_.kind; }
  uint32_t leaf_of(uint32_t node) const { return node < leaf_of_.size() ? leaf_of_[node] : kNoLeaf; }
  uint32_t leaves() const { return static_cast<uint32_t>(leaf_units_.size()); }
  const TopologyUnit& leaf(uint32_t i) const { return of_.units[leaf_units_[i]]; }
  uint32_t leaves_of(const Bitmap& nodes) const;  // nodes in no leaf count one each

  Bitmap leaf_mates(const Bitmap& nodes) const;  // the other nodes of their leaves

  using Group = std::vector<uint32_t>;
  // levels()[l]: the groups of level l + 1; level 0 is each leaf by itself.
  const std::vector<std::vector<Group>>& levels() const { return levels_; }
  // For a block topology: the most nodes that a job may have in a group of that level.
  uint32_t size_of_level(size_t level) const { return of_.block_sizes[level]; }
  // Whether any two nodes of the topology can be in one job.
  bool connected() const { return connected_; }

  // For a torus: a place where a job of so many nodes may stand. Its cells are nodes.
  struct Stand {
    uint32_t leaf = 0;
    std::vector<uint32_t> nodes;
  };
  const std::vector<Stand>& stands() const { return stands_; }
  std::span<const uint32_t> stands_at(uint32_t node) const;  // numbers of those that use the node

 private:
  void build_tree();
  void build_blocks();
  void build_stands();
  void add_stands(uint32_t leaf, const TorusPlacement& placement);

  TopologiesPtr all_;
  const Topology& of_;
  std::vector<uint32_t> leaf_units_, leaf_of_;
  std::vector<std::vector<Group>> levels_;
  bool connected_ = false;
  std::vector<Stand> stands_;
  std::vector<std::vector<uint32_t>> stands_at_;
};

// The indexes of a cluster's topologies, each built when first asked for.
class TopologyCache {
 public:
  // Null: the partition's topology is flat.
  std::shared_ptr<const TopologyIndex> of(const TopologiesPtr& all, const Partition& partition, uint32_t size);

 private:
  TopologiesPtr all_;
  uint32_t size_ = 0;
  std::vector<std::shared_ptr<const TopologyIndex>> built_;  // along all_->all
};

}  // namespace muster::sched
