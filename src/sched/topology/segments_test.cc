#include "sched/topology/segments.h"

#include <gtest/gtest.h>

namespace muster::sched {
namespace {

// Base blocks of four nodes: 0-3, 4-7, 8-11, 12-15; two of them make a block of eight.
Topology blocks() {
  Topology t{.kind = TopologyKind::kBlock};
  for (uint32_t b = 0; b < 4; ++b) t.units.push_back({.name = "b" + std::to_string(b), .nodes = {4 * b, 4 * b + 1, 4 * b + 2, 4 * b + 3}});
  t.block_sizes = {4, 8};
  return t;
}

std::vector<uint32_t> on(const Topology* t, uint32_t size, const std::vector<uint32_t>& nodes) {
  Allocation a;
  for (uint32_t n : nodes) a.nodes.emplace_back().node = NodeId(n);
  return segments_of(t, a, size);
}
using Segments = std::vector<uint32_t>;

TEST(Segments, EachIsWithinABlock) {
  const Topology t = blocks();
  EXPECT_EQ(on(&t, 2, {0, 1, 8, 9}), (Segments{0, 0, 1, 1}));
  EXPECT_EQ(on(&t, 2, {0, 4, 1, 5}), (Segments{0, 1, 0, 1}));  // whatever the order of ranks
  EXPECT_EQ(on(&t, 2, {0, 1, 2, 3}), (Segments{0, 0, 1, 1}));
  EXPECT_EQ(on(&t, 6, {0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13}), (Segments{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
}

// A job gave up a node while it ran: what is left of its segment stays apart from the next block.
TEST(Segments, APartOfOneIsNoPartOfAnother) {
  const Topology t = blocks();
  EXPECT_EQ(on(&t, 2, {0, 4, 5}), (Segments{0, 1, 1}));
}

TEST(Segments, OneWhereNothingFallsApart) {
  const Topology t = blocks(), tree{.kind = TopologyKind::kTree};
  EXPECT_EQ(on(&t, 0, {0, 4}), (Segments{0, 0}));
  EXPECT_EQ(on(&t, 2, {0, 4}), (Segments{0, 0}));
  EXPECT_EQ(on(&tree, 1, {0, 4}), (Segments{0, 0}));
  EXPECT_EQ(on(nullptr, 1, {0, 4}), (Segments{0, 0}));
}

TEST(Segments, AreCountedBeforeThereAreNodes) {
  const Topology t = blocks();
  EXPECT_EQ(segments_in(&t, 4, 2), 2u);
  EXPECT_EQ(segments_in(&t, 2, 2), 1u);
  EXPECT_EQ(segments_in(nullptr, 4, 2), 1u);
}

}  // namespace
}  // namespace muster::sched
