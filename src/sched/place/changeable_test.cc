// Jobs that ask for features which a reboot changes: nodes that have them come first, then idle ones that can have them.
#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

// Four nodes of two CPUs: n0 has nps1, n1 nps2; n2 and n3 none of them. n3 cannot change. All but n3 are of make "fast".
Cluster four_nodes() {
  auto able = std::make_shared<NodeHardware>();
  able->changeable = {"nps1", "nps2", "mig"};
  Cluster cluster = a_cluster()
                        .nodes(4)
                        .cpus(2)
                        .node([&](Node& node, NodeSpec& spec) {
                          if (node.id.value < 3) node.hardware = able, spec.features = {"fast"};
                        })
                        .build();
  cluster.nodes.edit(0)->features_active.push_back("nps1");
  cluster.nodes.edit(1)->features_active.push_back("nps2");
  return cluster;
}

Params with_helpers(std::set<std::string, std::less<>> users = {}) {
  ChangeableFeatures changeable;
  changeable.names = {"nps1", "nps2", "mig"};
  changeable.exclusive = {{"nps1", "nps2"}};
  changeable.users = std::move(users);
  Params params;
  params.changeable = std::make_shared<const ChangeableFeatures>(std::move(changeable));
  params.reboots = true;
  return params;
}

// "1 | 0 2": the nodes of each start, in order; the last is what was asked for.
std::string starts(Cluster& cluster, const Params& params, Time now = kNow) {
  const Plan plan = Planner().plan(cluster, params, now, Pass::kFull);
  std::string out;
  for (const StartItem& item : plan.starts) {
    out += out.empty() ? "" : " | ";
    for (const NodeShare& share : item.allocation->nodes)
      out += (&share == &item.allocation->nodes.front() ? "" : " ") + std::to_string(share.node.value);
  }
  return out.empty() ? "none" : out;
}

std::string lone(const JobBuilder& job, const Params& params = with_helpers(), Time now = kNow) {
  Cluster cluster = four_nodes();
  submit(cluster, job, kNow);
  return starts(cluster, params, now);
}

TEST(ChangeablePlacement, NodesThatHaveItComeFirst) {
  EXPECT_EQ(lone(a_job().on("nps2")), "1");
  Cluster cluster = four_nodes();
  for (int i = 0; i < 3; ++i) submit(cluster, a_job().tasks(2).on("nps2"), kNow);
  submit(cluster, a_job().tasks(2).on("nps2"), kNow);
  EXPECT_EQ(starts(cluster, with_helpers()), "1 | 0 | 2") << "n3 cannot have it";
}

TEST(ChangeablePlacement, WithoutHelpersOnlyWhatIsActiveCounts) {
  EXPECT_EQ(lone(a_job().nodes(2).on("nps2"), Params{}), "none");
  EXPECT_EQ(lone(a_job().nodes(2).on("nps2")), "0 1");
}

TEST(ChangeablePlacement, AllNodesGetTheSameSet) {
  EXPECT_EQ(lone(a_job().nodes(3).on("nps1|nps2")), "0 1 2");  // nps1, the first set
  EXPECT_EQ(lone(a_job().nodes(1).on("nps1|nps2")), "0");
  EXPECT_EQ(lone(a_job().nodes(1).on("fast&nps2&mig")), "0");
  EXPECT_EQ(lone(a_job().nodes(4).on("mig")), "none");
}

TEST(ChangeablePlacement, NobodyIsPutOutOfANode) {
  Cluster cluster = four_nodes();
  submit(cluster, a_job().tasks(1).nodelist("n0"), kNow);
  submit(cluster, a_job().tasks(1).nodelist("n1"), kNow);
  submit(cluster, a_job().tasks(2).on("nps2"), kNow);  // n1 has it and is half taken; n0 is in use
  EXPECT_EQ(starts(cluster, with_helpers()), "0 | 1 | 2");
}

TEST(ChangeablePlacement, WhoMayNotBootWaitsForNodesThatHaveIt) {
  auto of = [](const char* user) { return a_job().nodes(2).on("nps2").with([&](JobRequest& r) { r.user_name = user; }); };
  EXPECT_EQ(lone(of("bob"), with_helpers({"ann"})), "none");
  EXPECT_EQ(lone(of("ann"), with_helpers({"ann"})), "0 1");
  Cluster cluster = four_nodes();  // both together: one class for each user
  submit(cluster, of("bob").user(2), kNow);
  submit(cluster, of("ann").user(1), kNow);
  EXPECT_EQ(starts(cluster, with_helpers({"ann"})), "0 1");
}

TEST(ChangeablePlacement, DelayBoot) {
  auto patient = a_job().nodes(2).on("nps2").with([](JobRequest& r) {
    r.delay_boot = minutes(5);
    r.delay_boot_set = true;
  });
  EXPECT_EQ(lone(patient), "none");
  EXPECT_EQ(lone(patient, with_helpers(), kNow + minutes(5)), "0 1");
  Params of_cluster = with_helpers();
  of_cluster.delay_boot = minutes(5);
  EXPECT_EQ(lone(a_job().nodes(2).on("nps2"), of_cluster), "none");
  auto at_once = a_job().nodes(2).on("nps2").with([](JobRequest& r) { r.delay_boot_set = true; });
  EXPECT_EQ(lone(at_once, of_cluster), "0 1") << "--delay-boot=0";
}

// One planner, as the controller has: a class that did not fit is looked at again when the time has come.
TEST(ChangeablePlacement, TimeAloneLetsItStart) {
  Cluster cluster = four_nodes();
  submit(cluster, a_job().nodes(2).on("nps2").with([](JobRequest& r) {
    r.delay_boot = minutes(5);
    r.delay_boot_set = true;
  }),
         kNow);
  Planner planner;
  const Params params = with_helpers();
  EXPECT_TRUE(planner.plan(cluster, params, kNow, Pass::kFull).starts.empty());
  EXPECT_TRUE(planner.plan(cluster, params, kNow + minutes(4), Pass::kFull).starts.empty());
  EXPECT_EQ(planner.plan(cluster, params, kNow + minutes(6), Pass::kFull).starts.size(), 1u);
}

// A job that has to wait for its --delay-boot holds nobody up who asks for the same and has waited for longer.
TEST(ChangeablePlacement, AYoungJobDoesNotStandInTheWayOfAnOldOne) {
  Cluster cluster = four_nodes();
  auto patient = [] {
    return a_job().nodes(2).on("nps2").with([](JobRequest& r) {
      r.delay_boot = minutes(5);
      r.delay_boot_set = true;
    });
  };
  submit(cluster, patient().priority(10), kNow + minutes(5));
  submit(cluster, patient().priority(1), kNow);
  EXPECT_EQ(starts(cluster, with_helpers(), kNow + minutes(6)), "0 1");
}

TEST(ChangeablePlacement, WhereNothingRebootsOnlySleepersChange) {
  Params params = with_helpers();
  params.reboots = false;
  EXPECT_EQ(lone(a_job().nodes(2).on("nps2"), params), "none");
  Cluster cluster = four_nodes();
  cluster.nodes.edit(2)->flags |= kNodePoweredDown;
  submit(cluster, a_job().nodes(2).on("nps2"), kNow);
  EXPECT_EQ(starts(cluster, params), "1 2");
}

TEST(ChangeablePlacement, ForRebootItselfNodesAreIdle) {
  Cluster cluster = four_nodes();
  submit(cluster, a_job().tasks(1).nodelist("n0"), kNow);
  submit(cluster, a_job().tasks(1).with([](JobRequest& r) { r.reboot = true; }), kNow);
  EXPECT_EQ(starts(cluster, with_helpers()), "0 | 1");
}

TEST(ChangeablePlacement, WhatCanEverRun) {
  const Cluster cluster = four_nodes();
  const Params params = with_helpers();
  EXPECT_TRUE(can_ever_run(cluster, params, a_job().nodes(3).on("nps2").request, 0).has_value());
  EXPECT_TRUE(can_ever_run(cluster, params, a_job().on("mig").request, 0).has_value()) << "active nowhere, but it can be";
  EXPECT_FALSE(can_ever_run(cluster, params, a_job().nodes(4).on("nps2").request, 0).has_value());
  for (const char* wrong : {"nps1&nps2", "[nps1|nps2]", "nps1*2", "nosuch"}) {
    const auto ever = can_ever_run(cluster, params, a_job().on(wrong).request, 0);
    ASSERT_FALSE(ever.has_value()) << wrong;
    EXPECT_EQ(ever.error().code, Errc::kInvalidFeature) << wrong;
  }
}

}  // namespace
}  // namespace muster::sched
