// Nodes: registration, silence, reboot, states that admins set, and what becomes of the jobs there.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(Register, UnknownNodesBecomeIdle) {
  Bench b("", false);
  EXPECT_EQ(b.node(0).admin, NodeState::kUnknown);
  b.register_node(0, "boot1");
  EXPECT_EQ(b.node(0).admin, NodeState::kIdle);
}

TEST(Register, TooLittleHardwareIsInvalidUntilItIsThere) {
  Bench b;
  b.register_node(0, "boot2", {}, 2);
  EXPECT_TRUE(b.node(0).flags & kNodeInvalid);
  EXPECT_NE(b.node(0).reason.find("Low CPUs"), std::string::npos);
  b.register_node(0, "boot3");
  EXPECT_FALSE(b.node(0).flags & (kNodeInvalid | kNodeDrain));
}

TEST(Register, ALittleLessMemoryIsEnoughWhereTheSiteSaysSo) {
  Bench strict;
  strict.register_node(0, "boot2", {}, 4, 3800);
  EXPECT_EQ(strict.node(0).reason, "Low RealMemory (reported:3800 < 100.00% of configured:4000)");
  Bench b("SlurmctldParameters=node_reg_mem_percent=95\n");
  b.register_node(0, "boot2", {}, 4, 3800);
  EXPECT_FALSE(b.node(0).flags & kNodeInvalid);
  b.register_node(0, "boot2", {}, 4, 3799);
  EXPECT_EQ(b.node(0).reason, "Low RealMemory (reported:3799 < 95.00% of configured:4000)");
}

TEST(Register, CloudNodesMayHaveTenPercentLessMemory) {
  Bench b("NodeName=cloud CPUs=4 RealMemory=4000 State=CLOUD\n", false);
  ASSERT_TRUE(b.node(0).flags & kNodeCloud);
  b.register_node(0, "boot1", {}, 4, 3600);
  EXPECT_FALSE(b.node(0).flags & kNodeInvalid);
  b.register_node(0, "boot1", {}, 4, 3599);
  EXPECT_TRUE(b.node(0).flags & kNodeInvalid);
}

TEST(Register, JobsTheControllerDoesNotKnowAreEnded) {
  Bench b;
  b.register_node(0, "boot1", {{JobId(77), 0, node_rpc::NodeJobState::kRunning, 0, true, {}}});
  ASSERT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>()[0].job, JobId(77));
}

TEST(Silence, TakesTheNodeDownAndRequeues) {
  Bench b("JobRequeue=1\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  uint32_t node = b.host(j);
  b.turn([&] { b.core.node_disconnected(NodeId(node)); });
  b.wait(seconds(59));
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.wait(seconds(2));
  EXPECT_EQ(b.node(node).admin, NodeState::kDown);
  EXPECT_EQ(b.state(j), JobState::kPending);
  EXPECT_EQ(b.get(j).restarts, 1u);
  b.expect_replay_equal();
}

TEST(Silence, ShortOneDoesNothing) {
  Bench b;
  b.turn([&] { b.core.node_disconnected(NodeId(0)); });
  b.wait(seconds(30));
  b.register_node(0, "boot1");
  b.wait(seconds(60));
  EXPECT_EQ(b.node(0).admin, NodeState::kIdle);
}

// The node had started the script and lost power before it could say so: running it again would be a second run.
TEST(Reboot, NoSecondRunWithinAGeneration) {
  for (bool requeue : {true, false}) {
    Bench b(requeue ? "JobRequeue=1\n" : "JobRequeue=0\n");
    JobId j = b.submit();
    b.plan();
    ASSERT_EQ(b.orders<node_rpc::LaunchBatch>().size(), 1u);
    uint32_t node = b.host(j);
    b.turn([&] { b.core.node_disconnected(NodeId(node)); });
    b.register_node(node, "boot2");
    EXPECT_FALSE(b.orders<node_rpc::TerminateJob>().empty());  // a step may have started there since
    EXPECT_TRUE(b.get(j).run->releasing.any());
    b.gone(j, node);
    for (const auto& launch : b.orders<node_rpc::LaunchBatch>()) EXPECT_GT(launch.job.generation, 0u);
    EXPECT_EQ(b.state(j), requeue ? JobState::kPending : JobState::kNodeFail);
  }
}

// A node that can be reached ends its jobs before anything of it is given to others.
// srun's steps may run where the batch script could not be started.
TEST(LaunchFailed, NodeIsHeldUntilItSaysThatNothingIsLeft) {
  Bench b("JobRequeue=0\n");
  JobId j = b.submit();
  b.plan();
  uint32_t node = b.host(j);
  b.report(node, node_rpc::LaunchFailed{j, 0, false, "no such directory"});
  EXPECT_EQ(b.state(j), JobState::kFailed);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
  EXPECT_GT(b.node(node).cpus_used.count(), 0u);
  b.gone(j, node);
  EXPECT_EQ(b.node(node).cpus_used.count(), 0u);
}

TEST(Down, JobsOfAReachableNodeEndThereFirst) {
  Bench b("JobRequeue=0\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  uint32_t node = b.host(j);
  b.set_node("n" + std::to_string(node), "down");
  EXPECT_EQ(b.state(j), JobState::kNodeFail);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
  EXPECT_GT(b.node(node).cpus_used.count(), 0u);
  b.gone(j, node);
  EXPECT_EQ(b.node(node).cpus_used.count(), 0u);
  // … and a node that goes silent while DOWN is given up all the same.
  b.set_node("n" + std::to_string(node), "resume");
  JobId k = b.submit([&](JobRequest& r) { r.required_nodes = "n" + std::to_string(node); });
  ASSERT_EQ(b.plan(), 1u);
  b.started(k);
  b.set_node("n" + std::to_string(node), "down");
  b.turn([&] { b.core.node_disconnected(NodeId(node)); });
  b.wait(seconds(61));
  EXPECT_TRUE(b.get(k).run->releasing.none());
}

TEST(Down, CompletingEndsWithItsLastJob) {
  Bench b("JobRequeue=0\n");
  JobId j = b.submit([](JobRequest& r) { r.min_nodes = r.max_nodes = 2; });
  b.plan();
  b.started(j);
  b.ends(j);
  uint32_t other = b.get(j).allocation->nodes[1].node.value;
  ASSERT_TRUE(b.node(other).flags & kNodeCompleting);
  b.turn([&] { b.core.node_disconnected(NodeId(other)); });
  b.wait(seconds(61));  // released and set DOWN in one turn
  EXPECT_EQ(b.node(other).jobs_completing, 0u);
  EXPECT_FALSE(b.node(other).flags & kNodeCompleting);
}

TEST(Drain, RunningJobsStayNewOnesDoNotCome) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.set_node("n[0-3]", "drain");
  JobId k = b.submit();
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.set_node("n[0-3]", "resume");
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(k), JobState::kRunning);
}

}  // namespace
}  // namespace muster::slurmctld
