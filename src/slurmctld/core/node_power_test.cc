// scontrol power: what is told to SuspendProgram and ResumeProgram, when, and what becomes of the jobs.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

Errc asked(Bench& b, rpc::NodeAction action, const std::string& nodes, bool force = false) {
  rpc::ControlNodes command;
  command.action = action;
  command.nodes = nodes;
  command.force = force;
  Result<rpc::Messages> answer;
  b.turn([&] { answer = b.core.run(Caller::root(), command); });
  return answer ? Errc::kOk : answer.error().code;
}
// Whom the last turn told to go up, or down.
std::vector<NodeId> powered(const Bench& b, bool up) {
  for (const Effect& e : b.effects)
    if (auto* p = std::get_if<PowerNodes>(&e); p && (p->program == event::PowerProgram::kResume) == up) return p->nodes;
  return {};
}
JobId running(Bench& b) {
  const JobId job = b.submit({});
  b.plan();
  b.started(job);
  EXPECT_EQ(b.state(job), JobState::kRunning);
  return job;
}

TEST(Power, DownWhenIdleAndUpAgain) {
  Bench b("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\n");
  JobId j = running(b);
  uint32_t n = b.host(j);
  std::string name = "n" + std::to_string(n);
  EXPECT_EQ(asked(b, rpc::NodeAction::kPowerUp, name), Errc::kOk);  // it is up
  EXPECT_TRUE(powered(b, true).empty());
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, name), Errc::kOk);
  EXPECT_TRUE(b.node(n).flags & kNodePowerDownRequested);
  EXPECT_TRUE(powered(b, false).empty());
  b.ends(j);
  EXPECT_EQ(powered(b, false), std::vector<NodeId>{NodeId(n)});
  EXPECT_TRUE(b.node(n).flags & kNodePoweringDown);
  b.set_node(name, "NoResp");  // another change of its state runs nothing anew
  EXPECT_TRUE(powered(b, false).empty());
  b.wait(seconds(21));
  EXPECT_TRUE(b.node(n).flags & kNodePoweredDown);
  for (int i = 0; i < 2; ++i) {  // a machine may have been left, or may not have come: the programs are told again
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, name), Errc::kOk);
    EXPECT_EQ(powered(b, false), i == 0 ? std::vector<NodeId>{NodeId(n)} : std::vector<NodeId>{});  // it is going down already
    EXPECT_EQ(b.node(n).flags & (kNodePoweringDown | kNodePoweredDown), kNodePoweringDown);
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, name), Errc::kOk);
    EXPECT_EQ(powered(b, true), i == 0 ? std::vector<NodeId>{NodeId(n)} : std::vector<NodeId>{});  // it is coming up already
  }
  b.register_node(n, "boot2");
  EXPECT_EQ(b.node(n).flags & (kNodePoweringUp | kNodePoweredDown), 0u);
  Bench none;
  EXPECT_EQ(asked(none, rpc::NodeAction::kPowerDown, "n0"), Errc::kInvalidNodeState);
  b.expect_replay_equal();
}

TEST(Power, AJobOfALostMachineIsOverWhenItsNodeIsPoweredDown) {
  for (const bool resumed : {false, true}) {
    Bench b("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\nJobRequeue=1\n");
    const JobId j = running(b);
    const uint32_t n = b.host(j);
    const std::string name = "n" + std::to_string(n);
    b.turn([&] { b.core.node_disconnected(NodeId(n)); });
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, name, true), Errc::kOk);
    EXPECT_TRUE(b.get(j).allocation);  // its processes may be there still
    if (resumed) b.set_node(name, "RESUME");
    else b.wait(seconds(21));
    EXPECT_TRUE(b.node(n).flags & kNodePoweredDown);
    EXPECT_FALSE(b.get(j).allocation);
    EXPECT_EQ(b.state(j), JobState::kPending);
    b.expect_replay_equal();
  }
}

TEST(Power, AMachineThatOutlivesSuspendTimeoutTakesItsJobsAlongWhenItGoes) {
  Bench b("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\nJobRequeue=1\nSlurmdTimeout=0\n");
  const JobId j = running(b);
  const uint32_t n = b.host(j);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n" + std::to_string(n), true), Errc::kOk);
  b.wait(seconds(21));
  EXPECT_TRUE(b.node(n).flags & kNodePoweredDown);
  EXPECT_TRUE(b.get(j).allocation) << "its slurmd can still say that it is over";
  b.turn([&] { b.core.node_disconnected(NodeId(n)); });
  EXPECT_FALSE(b.get(j).allocation);
  EXPECT_EQ(b.state(j), JobState::kPending);
  b.expect_replay_equal();
}

TEST(Power, OneThatDidNotAnswerIsAsGoodAsAnyWhenItIsOff) {
  Bench b("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\nSlurmctldParameters=idle_on_node_suspend\n");
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n0"), Errc::kOk);
  b.wait(seconds(21));
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n0"), Errc::kOk);
  b.turn([&] { b.core.node_disconnected(NodeId(0)); });
  b.wait(seconds(101));  // ResumeTimeout
  EXPECT_EQ(b.node(0).admin, NodeState::kDown);
  EXPECT_TRUE(b.node(0).flags & kNodeNoRespond);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n0"), Errc::kOk);
  b.wait(seconds(21));
  EXPECT_EQ(b.node(0).admin, NodeState::kIdle);
  EXPECT_EQ(b.node(0).flags & (kNodePoweredDown | kNodeNoRespond), kNodePoweredDown);
}

TEST(Power, AJobIsNotHeldBecauseNoMachineComes) {
  Bench b("SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\nJobRequeue=1\nMaxBatchRequeue=2\n"
          "SlurmctldParameters=idle_on_node_suspend\n");
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, "n[0-3]"), Errc::kOk);
  for (uint32_t n = 0; n < 4; ++n) b.turn([&] { b.core.node_disconnected(NodeId(n)); });
  b.wait(seconds(21));
  const JobId job = b.submit({});
  for (int i = 0; i < 5; ++i) {
    b.plan();
    ASSERT_EQ(b.state(job), JobState::kRunning) << i;
    const std::string node = "n" + std::to_string(b.host(job));
    b.wait(seconds(101));
    ASSERT_EQ(b.state(job), JobState::kPending);
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, node), Errc::kOk);
    b.wait(minutes(5));
  }
  EXPECT_NE(b.get(job).priority, 0u);
}

// Four nodes, of which n2 and n3 are powered down, and at most so many that may be up.
class MaxPowered : public testing::Test {
 protected:
  static std::string conf(int most) {
    return "SuspendProgram=/s\nResumeProgram=/"
           "r\nSuspendTimeout=1\nResumeTimeout=100\nSlurmctldParameters=power_save_interval=1000,max_powered_nodes=" +
           std::to_string(most) + "\n";
  }
  explicit MaxPowered(int most = 3) : b(conf(most)) {
    for (const char* node : {"n2", "n3"}) b.set_node(node, "POWER_DOWN");
    for (const uint32_t node : {2u, 3u}) b.turn([&] { b.core.node_disconnected(NodeId(node)); });
    b.wait(seconds(2));
  }
  JobId whole(uint32_t nodes) {
    return b.submit([&](JobRequest& r) {
      r.min_nodes = r.max_nodes = nodes;
      r.num_tasks = nodes * 4;
    });
  }
  bool down(uint32_t node) const { return b.node(node).flags & kNodePoweredDown; }
  Bench b;
};

TEST_F(MaxPowered, PowerUpIsRefusedBeyondIt) {
  ASSERT_TRUE(down(2) && down(3));
  rpc::ControlNodes command;
  command.action = rpc::NodeAction::kPowerUp;
  command.nodes = "n[2-3]";
  Result<rpc::Messages> answer;
  b.turn([&] { answer = b.core.run(Caller::root(), command); });
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->errors.size(), 1u) << "one there is room for";
  EXPECT_EQ(answer->errors[0].job, "n3");
  EXPECT_EQ(answer->errors[0].text, "max_powered_nodes=3: no more nodes may be powered up");
  EXPECT_EQ(powered(b, true), std::vector<NodeId>{NodeId(2)});
  EXPECT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n[2-3]"), Errc::kOk) << "n2 is coming up already";
  EXPECT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n3"), Errc::kInvalidNodeState);
  EXPECT_TRUE(down(3));
  rpc::UpdateNode state{"n3", {{"State", "=", "POWER_UP"}}};
  b.turn([&] { EXPECT_FALSE(b.core.run(Caller::root(), state)); });
  EXPECT_TRUE(down(3));
  b.expect_replay_equal();
}

TEST_F(MaxPowered, SeveralNodesOfOneUpdateCountTogether) {
  rpc::UpdateNode both{"n[2-3]", {{"State", "=", "POWER_UP"}}};
  b.turn([&] { EXPECT_FALSE(b.core.run(Caller::root(), both)); });
  EXPECT_TRUE(down(2) && down(3)) << "an update is done whole or not at all";
}

TEST_F(MaxPowered, AJobThatNeedsMoreWaitsUntilItIsAnother) {
  const JobId job = whole(4);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.get(job).pending(), true);
  EXPECT_TRUE(down(2) && down(3));
  b.settings = settings_of(conf(4));
  b.turn([&] { b.core.configure(b.settings); });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_FALSE(down(2) || down(3));
  b.expect_replay_equal();
}

TEST_F(MaxPowered, APlanOfBeforeIsNotCarriedOutBeyondIt) {
  const JobId job = whole(3);
  const auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, "n3"), Errc::kOk);  // an operator was faster
  size_t started = 0;
  b.turn([&] { started = b.core.carry_out(plan); });
  EXPECT_EQ(started, plan.starts[0].allocation->nodes.back().node == NodeId(3) ? 1u : 0u);
  uint32_t counted = 0;
  for (uint32_t i = 0; i < 4; ++i) counted += !down(i);
  EXPECT_LE(counted, 3u);
  EXPECT_TRUE(b.exists(job));
}

TEST(Power, TheLongestTimeoutOfItsPartitionsCounts) {
  const std::string programs = "SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=20\nResumeTimeout=100\n";
  Bench b(programs + "PartitionName=a Nodes=n0 SuspendTimeout=7 ResumeTimeout=200\nPartitionName=b Nodes=n[0-1] SuspendTimeout=9 "
                     "ResumeTimeout=INFINITE\n");
  for (auto [node, down, up] : {std::tuple(0u, seconds(9), std::optional<Duration>()), {2u, seconds(20), seconds(100)}}) {
    const std::string name = "n" + std::to_string(node);
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerDown, name), Errc::kOk);
    EXPECT_EQ(b.node(node).resume_deadline, b.now + down) << name;
    ASSERT_EQ(asked(b, rpc::NodeAction::kPowerUp, name), Errc::kOk);
    EXPECT_EQ(b.node(node).resume_deadline, up ? b.now + *up : kTimeInfinite) << name;
  }
}

}  // namespace
}  // namespace muster::slurmctld
