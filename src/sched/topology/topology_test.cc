// Where gangs stand in a tree, in blocks, on rings and in tori: rule by rule, and against brute force.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "hostlist/hostlist.h"
#include "sched/testing.h"
#include "sched/topology/topology_choice.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

AllocationPtr placed(Cluster& c, const JobBuilder& b, const Params& params = {}, Time now = kNow) {
  const JobId id = submit(c, b, kNow);
  Plan p = Planner().plan(c, params, now, Pass::kFull);
  AllocationPtr out;
  for (const StartItem& s : p.starts)
    if (s.job == id) out = s.allocation;
  apply_starts(c, p, now);
  if (!out) c.jobs.erase(id.value);
  return out;
}

std::string nodes(const AllocationPtr& a) {
  if (!a) return "none";
  std::vector<std::string> names;
  for (const NodeShare& s : a->nodes) names.push_back("n" + std::to_string(s.node.value));
  return compress_hosts(names);
}

std::string try_job(Cluster& c, const JobBuilder& b, const Params& params = {}) { return nodes(placed(c, b, params)); }

JobBuilder gang(uint32_t n) { return a_job().nodes(n).exclusive(); }
JobBuilder segmented(uint32_t n, uint32_t segment, bool spread = false, bool consolidate = false) {
  return gang(n).with([=](JobRequest& r) {
    r.segment = segment;
    r.spread_segments = spread;
    r.consolidate_segments = consolidate;
  });
}
void busy(Cluster& c, const std::string& list, uint32_t n) { ASSERT_NE(try_job(c, gang(n).nodelist(list)), "none"); }
Cluster machine(uint32_t n) { return a_cluster().nodes(n).cpus(2).build(); }

void give(Cluster& c, Topology t) {
  t.name = "default";
  Topologies all;
  all.all.push_back(std::move(t));
  c.topologies = std::make_shared<const Topologies>(std::move(all));
}

std::string ever(const Cluster& c, const JobBuilder& b) {
  auto r = can_ever_run(c, Params(), b.request, 0);
  return r ? "yes" : std::string(r.error().text) + " " + r.error().hint;
}

// ---- tree

TEST(Tree, FewestLeavesAndBestFit) {
  Cluster c = machine(12);
  give_tree(c, 3, 4);
  busy(c, "n0", 1);
  AllocationPtr a = placed(c, gang(4));
  EXPECT_EQ(nodes(a), "n[4-7]");
  EXPECT_EQ(a->switches, 1u);
  EXPECT_EQ(try_job(c, gang(2)), "n[1-2]");  // the leaf with three left
  EXPECT_EQ(try_job(c, gang(5).with([](JobRequest& r) { r.switches = 1; })), "none");
  a = placed(c, gang(5));
  EXPECT_EQ(nodes(a), "n[3,8-11]");
  EXPECT_EQ(a->switches, 2u);
}

TEST(Tree, TheLowestSwitchThatHasRoom) {
  Cluster c = machine(16);
  Topology t{.kind = TopologyKind::kTree};
  for (uint32_t l = 0; l < 8; ++l) t.units.push_back({.name = "l" + std::to_string(l), .nodes = {2 * l, 2 * l + 1}});
  for (uint32_t m = 0; m < 4; ++m) t.units.push_back({.name = "m" + std::to_string(m), .children = {2 * m, 2 * m + 1}});
  t.units.push_back({.name = "top0", .children = {8, 9}});
  t.units.push_back({.name = "top1", .children = {10, 11}});
  t.units.push_back({.name = "root", .children = {12, 13}});
  give(c, t);
  busy(c, "n[0-1]", 2);
  EXPECT_EQ(try_job(c, gang(4)), "n[4-7]");
  EXPECT_EQ(try_job(c, gang(6)), "n[8-13]");       // top1, not the root
  EXPECT_EQ(try_job(c, gang(4)), "n[2-3,14-15]");  // only the root is left
}

TEST(Tree, NoJobSpansSeparateFabrics) {
  Cluster c = machine(8);
  give_tree(c, 2, 4, true);
  EXPECT_NE(ever(c, gang(5)).find("topology default (tree)"), std::string::npos) << ever(c, gang(5));
  EXPECT_EQ(ever(c, gang(4)), "yes");
  busy(c, "n0", 1);
  busy(c, "n4", 1);
  EXPECT_EQ(try_job(c, gang(4)), "none");
  Params optional;
  optional.topology.optional = true;
  EXPECT_EQ(try_job(c, gang(4), optional), "n[1-3,5]");
}

TEST(Tree, WeightGoesBeforeTopology) {
  Cluster c = a_cluster()
                  .nodes(8)
                  .cpus(2)
                  .node([](Node& n, NodeSpec& s) {
                    const bool heavy = n.id.value >= 6 || n.id.value % 4 == 0;
                    s.weight = heavy ? 10 : 1;
                    n.weight = s.weight;
                  })
                  .build();
  give_tree(c, 2, 4);
  EXPECT_EQ(try_job(c, gang(4)), "n[1-3,5]");  // the light ones, though they are on two leaves
  EXPECT_EQ(try_job(c, gang(3)), "n[4,6-7]");
}

TEST(Tree, DragonflySpreadsWhatOneLeafCannotHold) {
  Cluster c = machine(12);
  give_tree(c, 3, 4);
  Params dragonfly;
  dragonfly.topology.dragonfly = true;
  EXPECT_EQ(try_job(c, gang(6), dragonfly), "n[0-1,4-5,8-9]");
  EXPECT_EQ(try_job(c, gang(2), dragonfly), "n[2-3]");
}

TEST(Tree, RanksFollowTheLeavesWhereTheSiteSaysSo) {
  Cluster c = machine(4);
  Topology t{.kind = TopologyKind::kTree};
  t.units.push_back({.name = "l0", .nodes = {1, 3}});
  t.units.push_back({.name = "l1", .nodes = {0, 2}});
  t.units.push_back({.name = "top", .children = {0, 1}});
  give(c, t);
  Params by_leaf;
  by_leaf.topology.switch_as_node_rank = true;
  EXPECT_EQ(try_job(c, gang(4), by_leaf), "n[1,3,0,2]");
}

TEST(Tree, RequiredNodesAndTheirLeaves) {
  Cluster c = machine(12);
  give_tree(c, 3, 4);
  EXPECT_EQ(try_job(c, gang(3).nodelist("n9")), "n[8-10]");
  EXPECT_EQ(try_job(c, gang(3).nodelist("n[0,4]")), "n[0-1,4]");
}

TEST(Tree, TasksMayNeedMoreThanTheSmallestLeafHas) {
  Cluster c = machine(12);
  give_tree(c, 3, 4);
  busy(c, "n[0-1]", 2);
  EXPECT_EQ(try_job(c, a_job().tasks(6)), "n[4-6]");
  EXPECT_EQ(try_job(c, a_job().tasks(4)), "n[2-3]");
}

// The fewest leaves under the lowest switch, found by trying all of them.
uint32_t brute_force(const Topology& t, const std::vector<uint32_t>& free, uint32_t wanted) {
  const auto level = switch_levels(t);
  const uint32_t top = *std::max_element(level.begin(), level.end());
  for (uint32_t l = 0; l <= top; ++l) {
    uint32_t best = UINT32_MAX;
    for (uint32_t u = 0; u < t.units.size(); ++u) {
      if (level[u] != l) continue;
      std::vector<uint32_t> counts;
      const auto below = nodes_below(t, u);
      for (const TopologyUnit& leaf : t.units) {
        if (leaf.nodes.empty() || !std::binary_search(below.begin(), below.end(), leaf.nodes[0])) continue;
        uint32_t n = 0;
        for (uint32_t node : leaf.nodes) n += free[node];
        counts.push_back(n);
      }
      for (uint32_t set = 1; set < 1u << counts.size(); ++set) {
        uint32_t sum = 0;
        for (size_t i = 0; i < counts.size(); ++i)
          if (set >> i & 1) sum += counts[i];
        if (sum >= wanted) best = std::min<uint32_t>(best, static_cast<uint32_t>(std::popcount(set)));
      }
    }
    if (best != UINT32_MAX) return best;
  }
  return 0;
}

TEST(Tree, AsFewLeavesAsBruteForceFinds) {
  std::mt19937 rng(11);
  for (int round = 0; round < 400; ++round) {
    Topology t{.kind = TopologyKind::kTree};
    uint32_t size = 0;
    const uint32_t leaves = 2 + rng() % 7;
    for (uint32_t l = 0; l < leaves; ++l) {
      TopologyUnit leaf{.name = "l" + std::to_string(l)};
      for (uint32_t n = 1 + rng() % 5; n > 0; --n) leaf.nodes.push_back(size++);
      t.units.push_back(std::move(leaf));
    }
    TopologyUnit left{.name = "left"}, right{.name = "right"};
    for (uint32_t l = 0; l < leaves; ++l) (rng() % 2 ? left : right).children.push_back(l);
    TopologyUnit top{.name = "top"};
    for (TopologyUnit* u : {&left, &right})
      if (!u->children.empty()) {
        top.children.push_back(static_cast<uint32_t>(t.units.size()));
        t.units.push_back(*u);
      }
    t.units.push_back(top);
    Cluster c = machine(size);
    std::vector<uint32_t> free(size, 1);
    for (uint32_t n = 0; n < size; ++n)
      if (rng() % 3 == 0) {
        busy(c, "n" + std::to_string(n), 1);
        free[n] = 0;
      }
    give(c, t);
    const uint32_t wanted = 1 + rng() % size;
    const uint32_t want_leaves = brute_force(t, free, wanted);
    Cluster again = c;
    const AllocationPtr a = placed(c, gang(wanted));
    ASSERT_EQ(a ? a->switches : 0, want_leaves) << "round " << round << ": " << nodes(a);
    EXPECT_EQ(nodes(placed(again, gang(wanted))), nodes(a));
  }
}

// ---- blocks

TEST(Block, TheSmallestSizeThatHoldsTheJob) {
  Cluster c = machine(16);
  give_blocks(c, 4, 4, {4, 8});
  busy(c, "n0", 1);
  EXPECT_EQ(try_job(c, gang(3)), "n[1-3]");  // fills the broken block
  EXPECT_EQ(try_job(c, gang(2)), "n[4-5]");
  EXPECT_EQ(try_job(c, gang(6)), "n[8-13]");
  EXPECT_EQ(try_job(c, gang(4)), "none");  // two here and two there: no block has four
  EXPECT_EQ(try_job(c, gang(2)), "n[6-7]");
}

TEST(Block, AJobNeverCrossesItsAggregatedBlock) {
  Cluster c = machine(16);
  give_blocks(c, 4, 4, {4, 8});
  busy(c, "n[0-2]", 3);
  busy(c, "n[12-14]", 3);
  EXPECT_EQ(try_job(c, gang(6)), "none");  // 5 and 5 are free
  EXPECT_EQ(try_job(c, gang(5)), "n[3-7]");
}

TEST(Block, LargerThanAllSizes) {
  Cluster c = machine(16);
  give_blocks(c, 8, 2, {2, 4});
  busy(c, "n0", 1);
  EXPECT_EQ(try_job(c, gang(8)), "n[4-11]");
  EXPECT_EQ(try_job(c, gang(7)), "n[1-3,12-15]");  // no two neighbours have seven: all four
  EXPECT_EQ(ever(c, gang(16)), "yes");
}

TEST(Block, HolesAndSpareNodes) {
  // Five nodes to a block that is planned as four: one may be missing.
  Cluster c = machine(10);
  give_blocks(c, 2, 5, {4, 8});
  busy(c, "n1", 1);
  EXPECT_EQ(try_job(c, gang(4)), "n[0,2-4]");
  EXPECT_EQ(try_job(c, gang(5)), "n[5-9]");  // of the size 8, where the spare node counts too
}

TEST(Block, Segments) {
  auto fresh = [] {
    Cluster c = machine(32);
    give_blocks(c, 8, 4, {4, 16});
    return c;
  };
  Cluster c = fresh();
  EXPECT_EQ(try_job(c, segmented(4, 2)), "n[0-3]");
  c = fresh();
  EXPECT_EQ(try_job(c, segmented(4, 2, true)), "n[0-1,4-5]");
  EXPECT_EQ(try_job(c, segmented(6, 3)), "n[8-10,12-14]");
  c = fresh();
  busy(c, "n[0-2,4-6,8-10]", 9);
  busy(c, "n[16-18,20-22,24-26]", 9);
  EXPECT_EQ(try_job(c, segmented(8, 4, false, true)), "none");  // one whole block on either side
  EXPECT_EQ(try_job(c, segmented(8, 4)), "n[12-15,28-31]");
}

TEST(Block, SegmentsLargerThanABaseBlock) {
  Cluster c = machine(32);
  give_blocks(c, 8, 4, {4, 8, 16});
  busy(c, "n0", 1);
  EXPECT_EQ(try_job(c, segmented(16, 8)), "n[16-31]");
  EXPECT_EQ(try_job(c, segmented(12, 6)), "n[1-2,4-13]");
}

TEST(Block, WhatCannotBe) {
  Cluster c = machine(32);
  give_blocks(c, 8, 4, {4, 16});
  EXPECT_NE(ever(c, segmented(6, 4)).find("no multiple of --segment=4"), std::string::npos);
  EXPECT_NE(ever(c, segmented(32, 32)), "");
  EXPECT_EQ(ever(c, segmented(3, 4)), "yes");  // one segment
  EXPECT_NE(ever(c, segmented(32, 4, false, true)).find("--consolidate-segments"), std::string::npos);
  EXPECT_EQ(ever(c, segmented(32, 4)), "yes");
}

TEST(Block, ARangeTakesTheMostThatStandsTogether) {
  Cluster c = machine(8);
  give_blocks(c, 2, 4, {4});
  busy(c, "n0", 1);
  EXPECT_EQ(try_job(c, a_job().nodes(2, 4).exclusive()), "n[4-7]");
  EXPECT_EQ(try_job(c, a_job().nodes(2, 4).exclusive()), "n[1-3]");
}

// Every segment within one block of the smallest size that holds it; base blocks unshared with --spread.
TEST(Block, SegmentsKeepTheirPromiseAtRandom) {
  std::mt19937 rng(5);
  int placed_jobs = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t blocks = 4 << rng() % 2, each = 3 + rng() % 3;
    Cluster c = machine(blocks * each);
    give_blocks(c, blocks, each, {3, 6, 12});
    for (uint32_t n = 0; n < blocks * each; ++n)
      if (rng() % 4 == 0) busy(c, "n" + std::to_string(n), 1);
    const uint32_t segment = 1 + rng() % 6, count = segment * (1 + rng() % 4);
    const bool spread = rng() % 2, consolidate = rng() % 2;
    const AllocationPtr a = placed(c, segmented(count, segment, spread, consolidate));
    if (!a) continue;
    ++placed_jobs;
    std::map<uint32_t, uint32_t> of_base, of_unit, of_largest;
    const uint32_t unit = segment <= 3 ? 1 : 2;
    for (const NodeShare& s : a->nodes) {
      ++of_base[s.node.value / each];
      ++of_unit[s.node.value / each / unit];
      ++of_largest[s.node.value / each / 4];
    }
    if (count <= segment) {
      ASSERT_EQ(of_unit.size(), 1u);
      continue;
    }
    for (const auto& [u, n] : of_unit) ASSERT_EQ(n % segment, 0u) << "round " << round << " " << nodes(a);
    if (spread && segment <= 3) {
      for (const auto& [u, n] : of_base) ASSERT_EQ(n, segment) << "round " << round << " " << nodes(a);
    }
    if (consolidate) {
      ASSERT_LE(count, 12u) << nodes(a);
      ASSERT_EQ(of_largest.size(), 1u) << nodes(a);
    }
  }
  EXPECT_GT(placed_jobs, 100);
}

// ---- rings and tori

TEST(Ring, NeighboursAroundTheEndToo) {
  Cluster c = machine(14);
  Topology t{.kind = TopologyKind::kRing};
  t.units.push_back({.name = "r0", .nodes = {0, 1, 2, 3, 4, 5, 6, 7}});
  t.units.push_back({.name = "r1", .nodes = {13, 12, 11, 10, 9, 8}});
  give(c, t);
  busy(c, "n[2-5]", 4);
  EXPECT_EQ(try_job(c, gang(3)), "n[0,6-7]");
  EXPECT_EQ(try_job(c, gang(2)), "n[12-13]");
  EXPECT_EQ(try_job(c, gang(5)), "none");
  EXPECT_EQ(try_job(c, segmented(4, 2)), "n[8-11]");
  EXPECT_NE(ever(c, gang(17)), "yes");
}

TEST(Torus, ShapesOfTheSite) {
  Cluster c = machine(32);
  Topology t{.kind = TopologyKind::kTorus3d};
  TopologyUnit pod{.name = "pod", .dims = {4, 4, 2}};
  for (uint32_t n = 0; n < 32; ++n) pod.nodes.push_back(n);
  for (Cell3d d : {Cell3d{2, 2, 1}, Cell3d{2, 2, 2}, Cell3d{4, 4, 2}}) pod.placements.push_back({d, {}, d});
  t.units.push_back(pod);
  give(c, t);
  EXPECT_EQ(try_job(c, gang(4)), "n[0-1,4-5]");
  EXPECT_EQ(try_job(c, gang(4)), "n[16-17,20-21]");  // the cube that is broken already
  EXPECT_EQ(try_job(c, segmented(16, 8)), "n[2-3,6-9,12-13,18-19,22-25,28-29]");
  EXPECT_NE(ever(c, gang(5)).find("of 4, 8, 32 nodes only"), std::string::npos) << ever(c, gang(5));
}

// ---- --exclusive=topo

JobBuilder alone(uint32_t n) {
  return a_job().nodes(n).with([](JobRequest& r) { r.exclusive = Exclusive::kTopo; });
}

TEST(ExclusiveTopo, NobodyElseInItsBlocks) {
  Cluster c = machine(12);
  give_blocks(c, 3, 4, {4});
  ASSERT_TRUE(placed(c, gang(1).nodelist("n0").minutes(30)));
  const AllocationPtr a = placed(c, alone(2).minutes(20));
  EXPECT_EQ(nodes(a), "n[4-5]");  // not b0, where somebody is
  EXPECT_EQ(a->fenced, (std::vector<uint32_t>{6, 7}));
  EXPECT_EQ(try_job(c, gang(4)), "n[8-11]");
  EXPECT_EQ(try_job(c, gang(2)), "n[1-2]");
  EXPECT_EQ(try_job(c, gang(2)), "none");  // n6 and n7 are kept
  // and a job that wants a block for itself waits until one is empty
  auto forecast = Planner().will_run(c, Params(), alone(1).minutes(5).request, kNow);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->start, kNow + minutes(20));
  forecast = Planner().will_run(c, Params(), gang(2).nodelist("n[6-7]").minutes(5).request, kNow);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->start, kNow + minutes(20));
}

TEST(ExclusiveTopo, APromisedBlockStaysEmpty) {
  Cluster c = machine(8);
  give_blocks(c, 2, 4, {4});
  ASSERT_TRUE(placed(c, gang(4).nodelist("n[0-3]").minutes(60)));
  ASSERT_TRUE(placed(c, gang(1).nodelist("n4").minutes(30)));
  const JobId waits = submit(c, alone(1).minutes(10).priority(2000), kNow);
  const JobId small = submit(c, gang(1).minutes(120), kNow);
  Plan p = Planner().plan(c, Params(), kNow, Pass::kFull);
  for (const auto& [id, v] : p.verdicts) {
    if (id == waits) {
      EXPECT_EQ(v.expected_start, kNow + minutes(30));
    }
    if (id == small) {
      EXPECT_NE(v.expected_start, kNow);
    }
  }
  EXPECT_TRUE(p.starts.empty());  // n[5-7] are free, and would not be empty in half an hour
}

// ---- several, and expected starts

TEST(Topologies, APartitionHasItsOwn) {
  Cluster c = machine(8);
  give_tree(c, 2, 4);
  Topologies all = *c.topologies;
  all.all.push_back({.name = "plain"});
  c.topologies = std::make_shared<const Topologies>(all);
  Partition p = c.partitions.at(0);
  busy(c, "n0", 1);
  Cluster flat = c;
  p.topology = "plain";
  flat.partitions.set(0, p);
  EXPECT_EQ(try_job(c, gang(4)), "n[4-7]");
  EXPECT_EQ(try_job(flat, gang(4)), "n[1-4]");
}

TEST(Topologies, AnExpectedStartWaitsForABlock) {
  Cluster c = machine(8);
  give_blocks(c, 2, 4, {4});
  ASSERT_TRUE(placed(c, gang(2).nodelist("n[0-1]").minutes(30)));
  ASSERT_TRUE(placed(c, gang(2).nodelist("n[4-5]").minutes(60)));
  const JobId waits = submit(c, gang(4).minutes(10), kNow);
  Plan p = Planner().plan(c, Params(), kNow, Pass::kFull);
  ASSERT_TRUE(p.starts.empty());
  for (const auto& [id, v] : p.verdicts)
    if (id == waits) {
      EXPECT_EQ(v.expected_nodes, "n[0-3]");
      EXPECT_EQ(v.expected_start, kNow + minutes(30));
    }
  auto forecast = Planner().will_run(c, Params(), gang(4).minutes(10).request, kNow);
  ASSERT_TRUE(forecast);
  EXPECT_EQ(forecast->start, kNow + minutes(40));
}

}  // namespace
}  // namespace muster::sched
