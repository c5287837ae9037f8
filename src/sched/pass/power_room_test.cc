// max_powered_nodes: how many powered-down nodes the jobs of a plan wake, and what those are told that wait for that.
#include <gtest/gtest.h>

#include "sched/supply/availability.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

struct World {
  explicit World(uint32_t most, uint32_t awake = 0, uint32_t nodes = 8) : c(a_cluster().nodes(nodes).cpus(4).build()) {
    params.max_powered_nodes = most;
    for (uint32_t id = awake; id < nodes; ++id) power_down(id);
  }
  void power_down(uint32_t id) { c.nodes.edit(id)->flags |= kNodePoweredDown; }
  JobId submit(const JobBuilder& job) { return sched::submit(c, job, kNow); }
  Plan plan(Pass pass = Pass::kFull) { return planner.plan(c, params, kNow, pass); }
  size_t start(Pass pass = Pass::kFull) {
    last = plan(pass);
    for (const StartItem& item : last.starts) {
      EXPECT_TRUE(still_fits(c, params, *c.jobs.at(item.job.value).request, item, kNow, 60));
      apply_start(c, item, kNow);
    }
    EXPECT_LE(powered(), *params.max_powered_nodes);
    for (const auto& [id, verdict] : last.verdicts) c.moment.verdicts.set(id.value, verdict);
    return last.starts.size();
  }
  uint32_t powered() const {
    uint32_t out = 0;
    c.nodes.for_each([&](uint32_t, const Node& node) { out += counts_as_powered(node); });
    return out;
  }
  std::string said(JobId id) const {
    const Verdict* verdict = verdict_of(last, id);
    return verdict ? std::string(verdict->detail.str()) : "no verdict";
  }

  Cluster c;
  Params params;
  Planner planner;
  Plan last;
};

JobBuilder whole(uint32_t nodes) { return a_job().nodes(nodes).exclusive().minutes(60); }

TEST(PowerRoom, NoMoreAreWokenThanMayBePoweredUp) {
  for (const Pass pass : {Pass::kFull, Pass::kQuick}) {
    World w(4);
    w.submit(whole(3));
    const JobId second = w.submit(whole(2));
    EXPECT_EQ(w.start(pass), 1u);
    EXPECT_EQ(w.powered(), 3u);
    EXPECT_EQ(verdict_of(w.last, second)->reason, Reason::kResources);
    EXPECT_EQ(w.said(second), "3 nodes are powered up, of 4 that may be (max_powered_nodes)");
    EXPECT_EQ(w.start(pass), 0u) << "nor in the next pass";
    w.params.max_powered_nodes = 5;
    EXPECT_EQ(w.start(pass), 1u) << "the number is another";
  }
}

TEST(PowerRoom, WithoutTheNumberAllAreWoken) {
  World w(1);
  w.params.max_powered_nodes.reset();
  w.submit(whole(8));
  EXPECT_EQ(w.plan().starts.size(), 1u);
}

TEST(PowerRoom, NodesThatAreUpAreHadInAnyCase) {
  World w(2, 2);
  const JobId large = w.submit(whole(3).priority(100));
  w.submit(whole(1).priority(10));
  EXPECT_EQ(w.start(), 1u) << "the small one, on a node that is up";
  EXPECT_EQ(w.said(large), "no start within sight: 2 nodes are powered up, of 2 that may be (max_powered_nodes)");
}

TEST(PowerRoom, SmallJobsDoNotTakeWhatALargeOneWaitsFor) {
  for (const Pass pass : {Pass::kFull, Pass::kQuick}) {
    World w(4);
    w.submit(whole(2).priority(1000));
    ASSERT_EQ(w.start(pass), 1u);
    const JobId large = w.submit(whole(3).priority(100)), small = w.submit(whole(1).priority(10));
    EXPECT_EQ(w.start(pass), 0u);
    w.c.jobs.erase(large.value);
    EXPECT_EQ(w.start(pass), 1u) << "once nobody waits ahead";
    EXPECT_TRUE(start_of(w.last, small));
  }
}

TEST(PowerRoom, TasksThatNeedMoreNodesWaitToo) {
  World w(2, 1);
  const JobId job = w.submit(a_job().tasks(12).minutes(60));
  EXPECT_EQ(w.start(), 0u);
  EXPECT_EQ(w.said(job), "no start within sight: 1 node is powered up, of 2 that may be (max_powered_nodes)");
  w.submit(a_job().tasks(8).minutes(60).priority(10000));
  EXPECT_EQ(w.start(), 1u) << "on the one that is up and one that is woken";
}

TEST(PowerRoom, RoomComesBackWhenANodeIsPoweredDown) {
  World w(2);
  const JobId first = w.submit(whole(2));
  EXPECT_EQ(w.start(), 1u);
  for (const NodeShare& share : w.c.jobs.at(first.value).allocation->nodes) w.c.nodes.edit(share.node.value)->flags &= ~kNodePoweredDown;
  const std::vector<NodeShare> had = w.c.jobs.at(first.value).allocation->nodes;
  const JobId second = w.submit(whole(1).nodelist("n7"));
  EXPECT_EQ(w.start(), 0u);
  end_job(w.c, first, kNow);
  EXPECT_EQ(w.start(), 0u) << "the nodes are idle, and up";
  w.power_down(had[0].node.value);
  EXPECT_EQ(w.start(), 1u);
  EXPECT_TRUE(start_of(w.last, second));
}

TEST(PowerRoom, ABlockIsFoundThatMayBeWoken) {
  World w(4);
  give_blocks(w.c, 2, 4, {4});
  w.c.nodes.edit(0)->flags |= kNodeDrain;
  w.submit(whole(4));
  EXPECT_EQ(w.start(), 1u);
}

TEST(PowerRoom, ComponentsOfAHeterogeneousJobTogether) {
  World w(2);
  const JobId leader = w.submit(whole(1)), other = w.submit(whole(2));
  join(w.c, {leader, other});
  EXPECT_TRUE(w.plan().starts.empty());
  w.params.max_powered_nodes = 3;
  EXPECT_EQ(w.plan().starts.size(), 1u);
}

TEST(PowerRoom, TheClusterOfTheMomentHasTheLastWord) {
  World w(2);
  const JobId job = w.submit(whole(2));
  const Plan plan = w.plan();
  ASSERT_EQ(plan.starts.size(), 1u);
  w.c.nodes.edit(7)->flags &= ~kNodePoweredDown;  // somebody has switched it on meanwhile
  const auto fits = still_fits(w.c, w.params, *w.c.jobs.at(job.value).request, plan.starts[0], kNow, 60);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, Errc::kNodesBusy);
}

}  // namespace
}  // namespace muster::sched
