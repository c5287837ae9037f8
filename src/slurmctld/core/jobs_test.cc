// The life of jobs: submission, start, end, requeue, limits, forgetting.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(Submit, GivesIdsInOrderAndSharesEqualRequests) {
  Bench b;
  JobId one = b.submit(), two = b.submit();
  EXPECT_EQ(two.value, one.value + 1);
  EXPECT_EQ(b.get(one).request_id, b.get(two).request_id);
  EXPECT_EQ(b.core.cluster().requests.size(), 1u);
  b.expect_replay_equal();
}

TEST(Submit, RefusesWhatCanNeverRunAndOtherUsers) {
  Bench b;
  b.core.begin(b.now);
  auto many = b.core.submit(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.min_nodes = r.max_nodes = 9; }));
  auto other = b.core.submit(Caller{Uid(1001), {}, {}, {}}, Bench::request());
  auto nowhere = b.core.submit(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.partitions = {"none"}; }));
  EXPECT_FALSE(many.has_value());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Errc::kUserIdMissing);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, Errc::kInvalidPartition);
  auto reserved = b.core.submit(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.reservation = "none"; }));
  ASSERT_FALSE(reserved.has_value());
  EXPECT_EQ(reserved.error().code, Errc::kReservationInvalid);
  EXPECT_TRUE(b.core.events().empty());
}

TEST(Start, HoldsResourcesAndLaunchesOnce) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.num_tasks = 4; });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(j), JobState::kRunning);
  EXPECT_EQ(b.node(b.host(j)).cpus_used.count(), 4u);
  ASSERT_EQ(b.orders<node_rpc::LaunchBatch>().size(), 1u);
  b.started(j);
  EXPECT_TRUE(b.core.indexes().obligations().empty());
  b.wait(minutes(1));
  EXPECT_TRUE(b.orders<node_rpc::LaunchBatch>().empty());
}

TEST(Start, LaunchIsRepeatedUntilTheNodeAnswers) {
  Bench b;
  b.submit();
  b.plan();
  b.wait(seconds(20));
  EXPECT_EQ(b.orders<node_rpc::LaunchBatch>().size(), 1u);
}

// A plan made before the job was changed must not start what was asked for then.
TEST(Start, PlanFromBeforeAnUpdateIsDropped) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.num_tasks = 2; });
  auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  ASSERT_TRUE(b.update(j, "NumNodes", "2").has_value());
  b.turn([&] { EXPECT_EQ(b.core.carry_out(plan), 0u); });
  EXPECT_EQ(b.state(j), JobState::kPending);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.get(j).allocation->nodes.size(), 2u);
}

TEST(End, FreesTheNodeAndKeepsTheExitCode) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.ends(j, 3 << 8);
  EXPECT_EQ(b.state(j), JobState::kFailed);
  EXPECT_EQ(b.get(j).exit_status, 3 << 8);
  EXPECT_EQ(b.node(b.host(j)).cpus_used.count(), 0u);
  EXPECT_EQ(b.orders<node_rpc::ForgetJobs>().size(), 1u);
  b.expect_replay_equal();
}

TEST(End, CompletesUntilEveryNodeIsDone) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.min_nodes = r.max_nodes = 2; });
  b.plan();
  b.started(j);
  b.ends(j);
  uint32_t other = b.get(j).allocation->nodes[1].node.value;
  EXPECT_TRUE(b.get(j).flags & kJobCompleting);
  EXPECT_TRUE(b.node(other).flags & kNodeCompleting);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
  b.gone(j, other);
  EXPECT_FALSE(b.get(j).flags & kJobCompleting);
  EXPECT_FALSE(b.node(other).flags & kNodeCompleting);
  EXPECT_TRUE(b.core.indexes().obligations().empty());
}

// The clock was set back while the job ran.
TEST(End, NeverBeforeTheStart) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.now -= minutes(30);
  b.ends(j);
  EXPECT_GE(b.get(j).ended, b.get(j).started);
}

TEST(End, ReportOfAnEarlierGenerationIsIgnored) {
  Bench b("JobRequeue=1\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  uint32_t node = b.host(j);
  b.control(rpc::JobAction::kRequeue, j);
  b.gone(j, node);
  b.plan();
  ASSERT_EQ(b.get(j).restarts, 1u);
  b.report(b.host(j), node_rpc::BatchFinished{j, 0, 0, true, false});
  EXPECT_EQ(b.state(j), JobState::kRunning);
}

TEST(End, AStepOfAWaitingJobIsNotThereToEnd) {
  Bench b;
  JobId j = b.submit();
  rpc::SignalJobs c;
  c.filter.jobs.emplace_back().job = j;
  c.filter.jobs.back().has_step = true;
  b.turn([&] {
    auto answer = b.core.signal(Caller::root(), c);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->errors.size(), 1u);
  });
  EXPECT_EQ(b.state(j), JobState::kPending);
}

TEST(Requeue, WaitsForTheNodesAndStartsANewGeneration) {
  Bench b("JobRequeue=1\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  uint32_t node = b.host(j);
  b.control(rpc::JobAction::kRequeue, j);
  EXPECT_TRUE(b.get(j).flags & kJobRequeued);
  EXPECT_TRUE(b.get(j).finished());
  b.gone(j, node);
  EXPECT_EQ(b.state(j), JobState::kPending);
  EXPECT_EQ(b.get(j).restarts, 1u);
  EXPECT_EQ(b.plan(), 1u);
  b.expect_replay_equal();
}

// Its nodes took longer than MinJobAge to let go of it.
TEST(Requeue, IsNotForgottenInstead) {
  Bench b("JobRequeue=1\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  uint32_t node = b.host(j);
  b.control(rpc::JobAction::kRequeue, j);
  b.now += seconds(500);
  b.gone(j, node);
  ASSERT_TRUE(b.exists(j));
  EXPECT_EQ(b.state(j), JobState::kPending);
}

TEST(Requeue, RefusedForTasksCancelledTogether) {
  Bench b("JobRequeue=1\n");
  JobId a = b.submit([](JobRequest& r) { r.array = "0-3"; });
  b.cancel(a);
  b.control(rpc::JobAction::kRequeue, a);
  EXPECT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.state(a), JobState::kCancelled);
}

TEST(Limit, TimeOutTerminatesWithTheConfiguredWait) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.time_limit_min = 1; });
  b.plan();
  b.started(j);
  b.wait(seconds(59));
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.wait(seconds(2));
  EXPECT_EQ(b.state(j), JobState::kTimeout);
  ASSERT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>()[0].kill_wait_seconds, 5u);
}

TEST(Limit, OverTimeLimitIsGrantedAndThenEnds) {
  Bench b("OverTimeLimit=2\n");
  JobId j = b.submit([](JobRequest& r) { r.time_limit_min = 1; });
  b.plan();
  b.started(j);
  b.wait(seconds(61));
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.wait(minutes(2));
  EXPECT_EQ(b.state(j), JobState::kTimeout);
}

TEST(Purge, MinJobAgeAfterTheEnd) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.ends(j);
  b.wait(seconds(99));
  EXPECT_TRUE(b.exists(j));
  b.wait(seconds(2));
  EXPECT_FALSE(b.exists(j));
  EXPECT_TRUE(b.core.cluster().requests.empty());
  EXPECT_EQ(b.core.indexes().next_timer(), kTimeInfinite);
  b.expect_replay_equal();
}

TEST(Rollback, RestoresEverythingButConnections) {
  Bench b;
  JobId j = b.submit();
  b.failing_turn([&] {
    (void)b.core.submit(Caller::root(), Bench::request());
    b.core.node_disconnected(NodeId(2));
  });
  EXPECT_EQ(b.core.cluster().last_job_id, j);
  EXPECT_EQ(b.core.cluster().jobs.size(), 1u);
  EXPECT_FALSE(b.node(2).connected);
  EXPECT_TRUE(b.core.events().empty());
  b.expect_replay_equal();
  // The silence of the lost node still counts.
  b.wait(seconds(61));
  EXPECT_EQ(b.node(2).admin, NodeState::kDown);
}

TEST(Rollback, EndIsReportedAgainAndTaken) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.failing_turn([&] { b.core.report(NodeId(b.host(j)), node_rpc::BatchFinished{j, 0, 0, true, false}); });
  EXPECT_EQ(b.state(j), JobState::kRunning);
  b.ends(j);
  EXPECT_EQ(b.state(j), JobState::kCompleted);
}

TEST(Update, TimeLimitOfARunningJobMovesItsEnd) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  ASSERT_TRUE(b.update(j, "TimeLimit", "20").has_value());
  EXPECT_EQ(b.get(j).ends, b.get(j).started + minutes(20));
  EXPECT_FALSE(b.update(j, "NumNodes", "2").has_value());
  EXPECT_FALSE(b.update(j, "NoSuchKey", "2").has_value());
}

}  // namespace
}  // namespace muster::slurmctld
