// Maintenances: what comes next of one, and what a controller does of it over restarts, failures and other people's hands.
#include "slurmctld/core/maintenance.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using enum MaintenanceStep;

struct House : Bench {
  House() : Bench("RebootProgram=/sbin/boot\nResumeTimeout=100\n") {}

  Result<rpc::Empty> start(uint32_t at_once = 1, uint32_t stop_after = 1, const std::string& nodes = "n[0-3]",
                           const std::string& name = "fw", const Caller& who = Caller::root()) {
    rpc::StartMaintenance ask;
    ask.name = name;
    ask.nodes = Parsed<NodeNames>(nodes);
    ask.at_once = at_once;
    ask.stop_after = stop_after;
    Result<rpc::Empty> done;
    turn([&] { done = core.run(who, ask); });
    return done;
  }
  Result<rpc::Empty> order(rpc::MaintenanceOrder what) {
    Result<rpc::Empty> done;
    turn([&] { done = core.run(Caller::root(), rpc::ControlMaintenance{"fw", what}); });
    return done;
  }
  const Maintenance& of(const std::string& name = "fw") const {
    const Maintenance* found = nullptr;
    core.cluster().maintenances.for_each([&](uint32_t, const Maintenance& m) {
      if (m.name == name) found = &m;
    });
    return *found;
  }
  MaintenanceStep step(uint32_t i) const { return of().nodes[i].step; }
  size_t held() const {
    return static_cast<size_t>(std::ranges::count_if(of().nodes, [](const MaintenanceNode& n) { return is_held(n.step); }));
  }
  void comes_back(uint32_t i) { register_node(i, "boot" + std::to_string(++boots)); }
  bool in_service(uint32_t i) const { return node(i).admin == NodeState::kIdle && !(node(i).flags & kNodeDrain) && node(i).reason.empty(); }
  JobId job_on(const std::string& name) {
    const JobId job = submit([&](JobRequest& r) { r.required_nodes = NodeList(name); });
    plan();
    started(job);
    EXPECT_EQ(state(job), JobState::kRunning);
    return job;
  }
  int boots = 1;
};

TEST(Maintenance, OneNodeAfterTheOtherIsDrainedRebootedAndReturned) {
  House h;
  ASSERT_TRUE(h.start());
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(h.step(i), kWorking) << i;
    EXPECT_TRUE(h.node(i).flags & kNodeRebootIssued);
    EXPECT_EQ(h.node(i).reason, "maintenance fw : reboot issued");
    EXPECT_EQ(h.held(), 1u);
    h.comes_back(i);
    EXPECT_EQ(h.step(i), kDone);
    EXPECT_TRUE(h.in_service(i)) << h.node(i).reason;
  }
  EXPECT_EQ(h.of().state, MaintenanceState::kFinished);
  EXPECT_TRUE(h.of().over());
  h.expect_replay_equal();
}

TEST(Maintenance, EmptyNodesComeFirstAndJobsGoOnToTheirEnds) {
  House h;
  const JobId job = h.job_on("n0");
  ASSERT_TRUE(h.start(2));
  EXPECT_EQ(h.step(0), kWaiting);
  EXPECT_EQ(h.held(), 2u);
  for (uint32_t i = 1; i < 4; ++i) h.comes_back(i);
  EXPECT_EQ(h.step(0), kDraining);
  EXPECT_TRUE(h.node(0).flags & kNodeDrain);
  h.wait(seconds(30));
  EXPECT_EQ(h.state(job), JobState::kRunning);
  h.ends(job);
  EXPECT_EQ(h.step(0), kWorking);
  EXPECT_EQ(h.orders<node_rpc::RebootNode>().size(), 1u);
  h.comes_back(0);
  EXPECT_EQ(h.of().state, MaintenanceState::kFinished);
  h.expect_replay_equal();
}

TEST(Maintenance, ANodeThatDoesNotComeBackStopsIt) {
  House h;
  ASSERT_TRUE(h.start());
  h.turn([&] { h.core.node_disconnected(NodeId(0)); });
  h.wait(seconds(101));
  EXPECT_EQ(h.step(0), kFailed);
  EXPECT_EQ(h.of().state, MaintenanceState::kPaused);
  EXPECT_EQ(h.of().why, "node n0 failed: it is down: maintenance fw : reboot timed out");
  EXPECT_EQ(h.held(), 0u);
  h.wait(seconds(60));
  EXPECT_EQ(h.step(1), kWaiting);
  ASSERT_TRUE(h.order(rpc::MaintenanceOrder::kContinue));
  EXPECT_EQ(h.step(1), kWorking);
  EXPECT_EQ(h.of().state, MaintenanceState::kActive);
  EXPECT_EQ(h.node(0).admin, NodeState::kDown);  // it is left as it is
  h.expect_replay_equal();
}

TEST(Maintenance, WhatACheckDrainsIsAFailureAndStaysDrained) {
  House h;
  ASSERT_TRUE(h.start(1, 2));
  rpc::UpdateNode check{"n0", {{"State", "=", "DRAIN"}, {"Reason", "=", "NHC: no disk"}}};
  h.turn([&] { EXPECT_TRUE(h.core.run(Caller::root(), check).has_value()); });
  h.comes_back(0);
  EXPECT_EQ(h.step(0), kFailed);
  EXPECT_TRUE(h.node(0).flags & kNodeDrain);
  EXPECT_NE(h.of().nodes[0].why.find("NHC: no disk"), std::string::npos);
  EXPECT_EQ(h.of().state, MaintenanceState::kActive);  // one of two failures
  EXPECT_EQ(h.step(1), kWorking);
  h.expect_replay_equal();
}

TEST(Maintenance, WhatOthersHaveIsLeftAsItIs) {
  House h;
  h.set_node("n1", "DRAIN");
  h.set_node("n2", "DOWN");
  const JobId job = h.job_on("n3");
  ASSERT_TRUE(h.start(4));
  EXPECT_EQ(h.step(1), kSkipped);
  EXPECT_EQ(h.of().nodes[1].why, "it is drained: test");
  EXPECT_EQ(h.step(2), kSkipped);
  EXPECT_EQ(h.step(3), kDraining);
  h.set_node("n3", "RESUME");  // by hand
  EXPECT_EQ(h.step(3), kSkipped);
  EXPECT_FALSE(h.node(3).flags & (kNodeDrain | kNodeRebootRequested));
  h.comes_back(0);
  EXPECT_TRUE(h.of().over());
  EXPECT_TRUE(h.node(1).flags & kNodeDrain);
  EXPECT_EQ(h.node(2).admin, NodeState::kDown);
  EXPECT_EQ(h.state(job), JobState::kRunning);
  h.expect_replay_equal();
}

TEST(Maintenance, CancelReturnsWhatHasNotRebootedYet) {
  House h;
  (void)h.job_on("n0");
  ASSERT_TRUE(h.start(4));
  EXPECT_EQ(h.step(0), kDraining);
  ASSERT_TRUE(h.order(rpc::MaintenanceOrder::kCancel));
  EXPECT_EQ(h.step(0), kSkipped);
  EXPECT_TRUE(h.in_service(0));
  EXPECT_FALSE(h.node(0).flags & kNodeRebootRequested);
  EXPECT_FALSE(h.of().over());
  for (uint32_t i = 1; i < 4; ++i) h.comes_back(i);
  EXPECT_TRUE(h.in_service(1));
  EXPECT_EQ(h.of().state, MaintenanceState::kCancelled);
  EXPECT_TRUE(h.of().over());
  EXPECT_FALSE(h.order(rpc::MaintenanceOrder::kContinue));
  h.expect_replay_equal();
}

TEST(Maintenance, PauseHoldsBackTheNext) {
  House h;
  ASSERT_TRUE(h.start());
  ASSERT_TRUE(h.order(rpc::MaintenanceOrder::kPause));
  EXPECT_FALSE(h.order(rpc::MaintenanceOrder::kPause));
  h.comes_back(0);
  EXPECT_TRUE(h.in_service(0));
  EXPECT_EQ(h.held(), 0u);
  ASSERT_TRUE(h.order(rpc::MaintenanceOrder::kContinue));
  EXPECT_EQ(h.step(1), kWorking);
  h.expect_replay_equal();
}

TEST(Maintenance, AFailedAppendAndARestartLoseNothing) {
  House h;
  ASSERT_TRUE(h.start());
  node_rpc::Register back;
  back.node = "n0";
  back.hardware = *h.node(0).hardware;
  back.hardware.boot_id = "boot9";
  h.failing_turn([&] { h.core.report(NodeId(0), back); });
  EXPECT_EQ(h.step(0), kWorking);
  Core again(h.settings);
  for (const Event& e : h.log) again.replay(e);
  again.begin(h.now);
  again.configure(h.settings);
  again.node_connected(NodeId(0));
  again.report(NodeId(0), back);
  again.housekeep();
  const Maintenance& m = again.cluster().maintenances.at(h.of().id);
  EXPECT_EQ(m.nodes[0].step, kDone);
  EXPECT_EQ(m.nodes[1].step, kWaiting);  // its slurmd has not connected again
  again.node_connected(NodeId(1));
  again.housekeep();
  again.commit();
  again.begin(h.now + kMaintenanceCheck);
  again.housekeep();
  EXPECT_EQ(again.cluster().maintenances.at(h.of().id).nodes[1].step, kWorking);
}

TEST(Maintenance, WhatIsRefused) {
  House h;
  const Caller user{Uid(1000), Gid(1000), {}, {}};
  const auto denied = h.start(1, 1, "n0", "mine", user);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Errc::kAccessDenied);
  const auto refusal = [&](auto result) { return result ? std::string() : result.error().hint; };
  EXPECT_NE(refusal(h.start(0)).find("--at-once=0"), std::string::npos);
  EXPECT_NE(refusal(h.start(1, 0)).find("--stop-after=0"), std::string::npos);
  EXPECT_NE(refusal(h.start(1, 1, "n0", "a b")).find("letters"), std::string::npos);
  EXPECT_FALSE(h.start(1, 1, "n9", "x"));
  ASSERT_TRUE(h.start(1, 1, "n[0-1]"));
  EXPECT_EQ(refusal(h.start(1, 1, "n[1-2]", "other")), "node n1 is part of maintenance 'fw', which is not over");
  EXPECT_NE(refusal(h.start()).find("not over yet"), std::string::npos);
  rpc::StartMaintenance program;
  program.name = "p";
  program.nodes = Parsed<NodeNames>("n3");
  program.power_action = "/bin/rm";
  h.turn([&] { EXPECT_NE(refusal(h.core.run(Caller::root(), program)).find("no PowerAction \"/bin/rm\""), std::string::npos); });
  h.comes_back(0);
  h.comes_back(1);
  ASSERT_TRUE(h.of().over());
  EXPECT_TRUE(h.start(1, 1, "n2"));  // the name is free again
  EXPECT_EQ(h.core.cluster().maintenances.size(), 1u);
}

TEST(Maintenance, NodesThatAreGoneAreSkipped) {
  Maintenance m;
  m.name = "fw";
  m.at_once = 2;
  for (uint32_t i = 0; i < 3; ++i) m.nodes.push_back({NodeId(i), "n" + std::to_string(i), kWaiting, {}, {}});
  m.nodes[0].step = kDraining;
  std::vector<NodeFacts> facts(3);
  facts[2].there = facts[2].connected = true;
  facts[2].admin = NodeState::kIdle;
  const MaintenanceNext next = next_of(m, facts);
  ASSERT_EQ(next.moves.size(), 3u);
  for (const MaintenanceMove& move : next.moves) EXPECT_EQ(move.to, move.index == 2 ? kDraining : kSkipped) << move.index;
  EXPECT_FALSE(next.state);
}

}  // namespace
}  // namespace muster::slurmctld
