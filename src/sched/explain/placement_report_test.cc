#include "sched/explain/placement_report.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

JobId run(Cluster& c, const JobBuilder& b) {
  const JobId id = submit(c, b, kNow);
  Plan p = Planner().plan(c, Params(), kNow, Pass::kFull);
  EXPECT_NE(start_of(p, id), nullptr);
  apply_starts(c, p, kNow);
  return id;
}

JobBuilder gang(uint32_t n) { return a_job().nodes(n).exclusive(); }
Cluster machine(uint32_t n) { return a_cluster().nodes(n).cpus(2).build(); }
std::string word(const Cluster& c, JobId id) { return placement_word(c, c.jobs.at(id.value)); }
PlacementView view(const Cluster& c, JobId id) { return placement_of(c, c.jobs.at(id.value)); }

using Lines = std::vector<std::string>;

TEST(PlacementReport, LeafSwitchesCrossedAndTheSwitchAround) {
  Cluster c = machine(12);
  give_tree(c, 3, 4);
  const JobId four = run(c, gang(4));
  const std::string one = word(c, four);
  EXPECT_TRUE(one.starts_with("kind=tree,switches=1,")) << one;
  EXPECT_TRUE(one.ends_with("=n[0-3]")) << one;
  EXPECT_EQ(view(c, four).why, Lines{"one leaf switch had room for all of it"});

  const JobId six = run(c, gang(6).nodelist("n5"));
  const PlacementView v = view(c, six);
  ASSERT_EQ(v.units.size(), 2u);
  EXPECT_EQ(v.units[0].count + v.units[1].count, 6u);
  EXPECT_FALSE(v.within.empty());
  EXPECT_EQ(v.fewest, 2u);
  EXPECT_EQ(v.why, (Lines{"--nodelist asks for n5", "2 leaf switches, the fewest that hold so many nodes"}));
  EXPECT_NE(word(c, six).find(",within=" + v.within + ","), std::string::npos);
}

TEST(PlacementReport, ACrossingThatWasNotNeededWithAllNodesFree) {
  Cluster c = machine(8);
  give_tree(c, 2, 4);
  run(c, gang(1).nodelist("n0"));
  run(c, gang(1).nodelist("n4"));
  EXPECT_EQ(view(c, run(c, gang(4))).why, Lines{"2 leaf switches; 1 would do with all nodes free, which they were not"});
}

TEST(PlacementReport, SegmentsInBlocks) {
  Cluster c = machine(16);
  give_blocks(c, 4, 4, {4, 8});
  const JobId id = run(c, gang(4).with([](JobRequest& r) {
    r.segment = 2;
    r.spread_segments = true;
  }));
  const PlacementView v = view(c, id);
  EXPECT_EQ(v.segments, 2u);
  EXPECT_TRUE(v.segments_whole);
  EXPECT_EQ(v.units.size(), 2u);
  EXPECT_NE(v.within, "");
  EXPECT_NE(word(c, id).find(",segments=2x2,"), std::string::npos) << word(c, id);

  // What no allocation of ours looks like is told all the same.
  Job broken = c.jobs.at(id.value);
  auto a = std::make_shared<Allocation>(*broken.allocation);
  for (uint32_t i = 0; i < 4; ++i) a->nodes[i].node = NodeId(std::vector<uint32_t>{0, 4, 8, 12}[i]);
  broken.allocation = a;
  c.jobs.set(id.value, broken);
  EXPECT_FALSE(view(c, id).segments_whole);
  EXPECT_NE(word(c, id).find(",segments=2x2:broken,"), std::string::npos) << word(c, id);
}

TEST(PlacementReport, NothingToSayWhereTheNetworkIsFlat) {
  Cluster c = machine(4);
  const JobId id = run(c, gang(2));
  EXPECT_EQ(word(c, id), "");
  EXPECT_TRUE(view(c, id).why.empty());
  const JobId waiting = submit(c, gang(4), kNow);
  EXPECT_TRUE(view(c, waiting).kind.empty());
}

TEST(PlacementReport, HeavierNodesAreNamed) {
  Cluster c = a_cluster().nodes(4).cpus(2).node([](Node& n, NodeSpec& s) { s.weight = n.id.value == 0 ? 1 : 9; }).build();
  EXPECT_EQ(view(c, run(c, gang(2))).why, Lines{"nodes of Weight 9 are among them: the lighter ones did not do"});
}

}  // namespace
}  // namespace muster::sched
