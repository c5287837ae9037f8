#include "model/node_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace muster {
namespace {

Bitmap these(std::initializer_list<size_t> nodes) {
  Bitmap out;
  for (size_t n : nodes) out.set(n);
  return out;
}

TEST(NodeCounts, ANodeIsThereUntilItsLastJobHasGone) {
  NodeCounts c;
  EXPECT_TRUE(c.none());
  c.add(these({1, 2, 70}));
  c.add(these({2, 3}));
  c.add(these({2}));
  EXPECT_EQ(c.nodes().to_ranges(), "1-3,70");
  c.take(these({2, 3}));
  EXPECT_EQ(c.nodes().to_ranges(), "1-2,70");
  c.take(these({1, 2, 70}));
  EXPECT_EQ(c.nodes().to_ranges(), "2");
  c.take(these({2, 9}));  // 9 was never there
  EXPECT_TRUE(c.none());
  EXPECT_EQ(c, NodeCounts());
}

TEST(NodeCounts, WhatIsAddedIsTakenAgainOneByOneOrTogether) {
  std::mt19937 random(1);
  NodeCounts all, one, another;
  std::array<int, 100> counts{};
  for (int i = 0; i < 500; ++i) {
    Bitmap nodes;
    for (int n = 0; n < 5; ++n) nodes.set(random() % counts.size());
    all.add(nodes);
    (i % 3 ? one : another).add(nodes);
    nodes.for_each([&](size_t n) { ++counts[n]; });
  }
  NodeCounts sum = one;
  sum.add(another);
  EXPECT_EQ(sum, all);
  sum.take(one);
  EXPECT_EQ(sum, another);
  for (size_t n = 0; n < counts.size(); ++n)
    for (; counts[n] > 0; --counts[n]) {
      ASSERT_TRUE(all.nodes().test(n));
      all.take(these({n}));
    }
  EXPECT_TRUE(all.none());
}

TEST(NodeCounts, TheNodesOfAnAllocation) {
  Allocation a;
  a.nodes.resize(2);
  a.nodes[0].node = NodeId(7);
  a.nodes[1].node = NodeId(3);
  EXPECT_EQ(nodes_of(a).to_ranges(), "3,7");
}

}  // namespace
}  // namespace muster
