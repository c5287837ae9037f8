// TopologyChoice: offers sets of nodes in the order in which a topology prefers them, until one is found that takes the job. Whether a set
// takes the job is the caller's business (gang.cc: now; profile.cc: later); only where the nodes stand is decided here.
//
//   tree   the lowest switch that has enough, under it the fewest leaves, of those the fullest; the last leaf
//          is the one with the least to spare. With --switches=N a higher switch if that needs no more than N
//          leaves. Dragonfly: one leaf, else spread over as many as possible.
//   block  the aggregated block of the smallest of BlockSizes that holds the job, and never beyond it; in it
//          the fewest base blocks, neighbours before others. A job larger than all sizes: neighbouring groups
//          of the largest. --segment: see topology_block.cc.
//   ring   neighbours on one ring, the shortest free run that does; a segment is such a run
//   torus3d  one of the shapes that the site allows, see topology_ring.cc
//
// Guide topology, topology.conf(5), sbatch(1) --segment --switches. Where these leave the choice open, the group with the fewest free nodes
// comes first, then the first defined. The same input gives the same answer.
//
// Cost: O(free nodes + leaves log leaves per level) and the tries.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "sched/fit/request_class.h"
#include "sched/supply/topology_index.h"

namespace muster::sched {

// What the job needs, at least.
struct TopologyWish {
  const Shape& shape;
  const Bitmap& required;
  uint32_t nodes = 1;    // the least count that can be enough and that the shape allows; 0: there is none
  uint64_t tasks = 0;    // 0: not asked for as a sum
  uint64_t devices = 0;  // of the first of shape.per_job
};

// `asked` and `required` must outlive it.
TopologyWish wish_of(const RequestClass& asked, const Bitmap& required);

// What a node has to give; asked only about members of `open`.
struct TopologySupply {
  const Bitmap& open;
  std::function<uint64_t(uint32_t)> tasks, devices;
  std::function<uint64_t(uint32_t)> cost;  // nodes with the lowest cost come first
};

class TopologyChoice {
 public:
  // Whether the nodes `among` take the job, all of `forced` being part of it.
  using Try = std::function<bool(const Bitmap& among, const Bitmap& forced)>;

  TopologyChoice(const TopologyIndex& index, const TopologyRules& rules, const TopologyWish& wish, const TopologySupply& supply,
                 Try attempt);
  bool choose();

 private:
  struct Supply {
    uint32_t nodes = 0;
    uint64_t tasks = 0, devices = 0;
    Supply& operator+=(const Supply& o);
  };
  using Leaves = std::vector<uint32_t>;
  // A place where the job might go: the leaves, the last of them with room to spare, and how many nodes its group had free.
  struct Spot {
    Leaves leaves;
    bool exact_but_last = false;  // all but the last are taken whole
    uint32_t free_nodes = 0;      // of the group it is in
  };

  bool enough(const Supply& s) const;
  bool roomier(uint32_t a, uint32_t b) const;
  Supply sum_of(std::span<const uint32_t> leaves) const;
  Bitmap open_in(std::span<const uint32_t> leaves) const;
  bool holds_required(std::span<const uint32_t> leaves) const;
  bool fewest(std::span<const uint32_t> group, Spot& out) const;
  bool try_spot(const Spot& spot, std::span<const uint32_t> group);
  bool try_exact(const std::vector<uint32_t>& nodes);
  bool try_single_leaves();
  bool try_groups(const std::vector<Leaves>& groups, bool in_a_row, uint32_t most_leaves);

  bool tree();
  bool within_tree();
  bool within_switches();
  bool unconnected();
  bool dragonfly();

  bool block();
  bool block_of(uint32_t nodes);
  bool beyond_blocks();
  void neighbours(std::span<const uint32_t> group, Spot& spot) const;
  size_t level_for(uint32_t nodes) const;
  bool segments(uint32_t nodes);
  bool segments_in(const Leaves& container, uint32_t nodes);
  std::vector<uint32_t> segments_of(const Leaves& unit, uint32_t most) const;

  bool ring();
  bool runs(uint32_t nodes, uint32_t segment);
  bool torus();
  bool stands(uint32_t nodes, uint32_t segment);

  std::vector<uint32_t> best_nodes(uint32_t leaf, uint32_t count) const;
  bool for_each_size(uint32_t most, const std::function<bool(uint32_t)>& f) const;

  const TopologyIndex& index_;
  const TopologyRules& rules_;
  TopologyWish wish_;
  const TopologySupply& supply_;
  Try attempt_;
  std::vector<Supply> leaf_supply_;
  std::vector<bool> needs_leaf_;  // required nodes are there
  uint32_t required_leaves_ = 0;
  bool required_elsewhere_ = false;  // a required node is in no leaf
  size_t tried_level_ = SIZE_MAX;    // the level of blocks tried last, without success
};

// Whether this topology can place the request at all if all nodes are free; the error names the rule.
Result<> topology_allows(const TopologyIndex& index, const Shape& shape);

}  // namespace muster::sched
