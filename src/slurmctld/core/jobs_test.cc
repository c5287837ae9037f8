// The life of jobs: submission, start, end, requeue, limits, forgetting.
#include "model/dependency.h"
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
  auto many = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.min_nodes = r.max_nodes = 9; }));
  auto other = b.core.run(Caller{Uid(1001), {}, {}, {}}, Bench::request());
  auto nowhere = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.partitions = {"none"}; }));
  EXPECT_FALSE(many.has_value());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Errc::kUserIdMissing);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, Errc::kInvalidPartition);
  auto reserved = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.reservation = "none"; }));
  ASSERT_FALSE(reserved.has_value());
  EXPECT_EQ(reserved.error().code, Errc::kReservationInvalid);
  EXPECT_TRUE(b.core.events().empty());
}

// What a user writes and root's prolog and epilog get as environment: one string too long, and no program starts with it.
TEST(Submit, BoundsTheTextsOfPrologs) {
  Bench b;
  using Change = std::function<void(JobRequest&)>;
  auto refusal = [&](const Change& change) {
    Result<rpc::JobSubmitted> r;
    b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request(change)); });
    return r ? std::string("accepted") : r.error().hint;
  };
  auto plugins = [&](std::vector<std::string> entries) { return refusal([&](JobRequest& r) { r.spank_env = entries; }); };
  const std::string most(32 << 10, 'x');
  EXPECT_EQ(plugins({"A=" + most.substr(2)}), "accepted");
  EXPECT_EQ(plugins({"B=1", "A=" + most}), "spank_env: A has 32770 bytes with its value, at most 32768");
  EXPECT_EQ(plugins(std::vector<std::string>(9, "A=" + most.substr(2))), "spank_env: 294912 bytes, at most 262144");
  EXPECT_EQ(plugins(std::vector<std::string>(1025, "A=1")), "spank_env: 1025 entries, at most 1024");
  EXPECT_EQ(plugins({"=1"}), "spank_env: '=1' has a name of 0 bytes, from 1 to 256");
  EXPECT_EQ(plugins({std::string(257, 'N') + "=1"}).substr(0, 20), "spank_env: 'NNNNNNNN");
  EXPECT_EQ(refusal([](JobRequest& r) { r.comment.assign(4097, 'x'); }), "comment: 4097 bytes, at most 4096");
  EXPECT_EQ(refusal([](JobRequest& r) { r.account.assign(4097, 'x'); }), "account: 4097 bytes, at most 4096");
  EXPECT_EQ(refusal([](JobRequest& r) { r.limits = {{std::string(4096, 'x'), 1}}; }), "limits: 4097 bytes, at most 4096");
  EXPECT_EQ(refusal([](JobRequest& r) { r.limits.resize(17); }), "limits: 17 entries, at most 16");
  JobId j = b.submit();
  for (const char* key : {"Comment", "StdOut", "WorkDir", "Account", "JobName"}) {
    auto changed = b.update(j, key, "/" + std::string(4096, 'x'));
    ASSERT_FALSE(changed) << key;
    EXPECT_EQ(changed.error().code, Errc::kPathnameTooLong) << key;
  }
  EXPECT_TRUE(b.update(j, "Comment", std::string(4096, 'x')));
}

TEST(Steps, HaveTheBoundsOfJobs) {
  Bench b;
  JobId j = b.submit();
  b.plan();
  b.started(j);
  auto refusal = [&](const std::function<void(rpc::CreateStep&)>& change) {
    rpc::CreateStep c;
    c.job = j;
    c.request.num_tasks = 1;
    change(c);
    Result<rpc::StepCreated> r;
    b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, c); });
    return r ? std::string("accepted") : r.error().hint;
  };
  EXPECT_EQ(refusal([](rpc::CreateStep& c) { c.request.comment.assign(4097, 'x'); }), "comment: 4097 bytes, at most 4096");
  EXPECT_EQ(refusal([](rpc::CreateStep& c) { c.request.limits.resize(17); }), "limits: 17 entries, at most 16");
  EXPECT_EQ(refusal([](rpc::CreateStep& c) { c.srun_host.assign(4097, 'x'); }), "srun_host: 4097 bytes, at most 4096");
  EXPECT_TRUE(b.get(j).steps.empty());
  EXPECT_EQ(refusal([](rpc::CreateStep& c) { c.request.environment = {std::string(100'000, 'x')}; }), "accepted");  // srun's own
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
    auto answer = b.core.run(Caller::root(), c);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->errors.size(), 1u);
  });
  EXPECT_EQ(b.state(j), JobState::kPending);
}

TEST(End, AnAdministratorSaysWhyItIsCancelled) {
  Bench b;
  JobId j = b.submit();
  rpc::SignalJobs c;
  c.filter.jobs.emplace_back().job = j;
  c.admin_comment = "runs on the wrong data";
  for (Uid who : {Uid(1000), Uid(0)}) {
    b.turn([&] { EXPECT_EQ(b.core.run(Caller{who, {}, {}, {}}, c)->errors.empty(), who == Uid(0)); });
    EXPECT_EQ(b.state(j), who == Uid(0) ? JobState::kCancelled : JobState::kPending);
  }
  EXPECT_EQ(b.get(j).own.get(&RequestOwn::admin_comment), c.admin_comment);
  b.expect_replay_equal();
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
TEST(Requeue, CancelledBeforeItIsBackItStaysEnded) {
  for (auto action : {rpc::JobAction::kRequeue, rpc::JobAction::kRequeueHold}) {
    Bench b("JobRequeue=1\n");
    JobId j = b.submit();
    b.plan();
    b.started(j);
    const uint32_t node = b.host(j);
    b.control(action, j);
    ASSERT_TRUE(b.get(j).finished());
    rpc::SignalJobs c;
    c.filter.jobs.push_back({.job = j});
    b.turn([&] {
      auto answer = b.core.run(Caller::root(), c);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->matched, 1u);
      EXPECT_TRUE(answer->errors.empty());
    });
    b.gone(j, node);
    EXPECT_EQ(b.get(j).state, JobState::kCancelled);
    EXPECT_EQ(b.get(j).restarts, 0u);
    b.expect_replay_equal();
  }
}

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
    (void)b.core.run(Caller::root(), Bench::request());
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

// As Slurm leaves it: why it waited is still there to read.
TEST(Cancel, AWaitingJobKeepsTheReasonWhyItWaited) {
  Bench b;
  auto whole = [](JobRequest& r) {
    r.min_nodes = 4;
    r.exclusive = Exclusive::kNode;
  };
  JobId runs = b.submit(whole), waits = b.submit(whole), held = b.submit([](JobRequest&r) { r.hold = true; });
  b.plan();
  for (JobId j : {waits, held, runs}) b.cancel(j);
  EXPECT_EQ(b.get(waits).reason, Reason::kResources);
  EXPECT_EQ(b.get(held).reason, Reason::kJobHeldUser);
  EXPECT_EQ(b.get(runs).reason, Reason::kNone);
  b.expect_replay_equal();
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

// ---- arrays and what names one of their tasks
rpc::KeyValue pair_of(const char* key, const char* value) { return {key, "=", value}; }

uint32_t task_record(const Bench& b, JobId array, uint32_t task) {
  uint32_t found = 0;
  b.core.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.array_job_id == array && j.array_task == task) found = id;
  });
  return found;
}

TEST(Array, WhatIsSaidOfOneTaskLeavesTheOthers) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) { r.array = "1-3"; });
  rpc::ControlJobs hold;
  hold.action = rpc::JobAction::kHold;
  hold.jobs.push_back({.job = a, .array_task = 2});
  b.turn([&] { ASSERT_TRUE(b.core.run(Caller::root(), hold)); });
  rpc::UpdateJob rename;
  rename.job = {.job = a, .array_task = 3};
  rename.changes = {pair_of("JobName", "third")};
  b.turn([&] { ASSERT_TRUE(b.core.run(Caller::root(), rename)); });
  EXPECT_EQ(b.get(a).array_tasks->pending.to_ranges(), "1");
  EXPECT_GT(b.get(a).priority, 0u);
  EXPECT_EQ(b.get(a).name(), "j");
  EXPECT_EQ(b.get(JobId(task_record(b, a, 2))).priority, 0u);
  EXPECT_EQ(b.get(JobId(task_record(b, a, 3))).name(), "third");
  b.expect_replay_equal();
}

TEST(Array, OneThatWasCancelledStillNamesItsTasks) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) { r.array = "1-4", r.hold = true; });
  b.cancel(a);
  EXPECT_EQ(b.state(a), JobState::kCancelled);
  EXPECT_EQ(job_name_for_users(b.get(a)), std::to_string(a.value) + "_[1-4]");
  JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterok:" + std::to_string(a.value) + "_2"; });
  EXPECT_EQ(b.get(after).reason, Reason::kDependencyNeverSatisfied);  // not: a task that nobody remembers
}

TEST(Submit, AWholeArrayIsShownAsOneInDependencies) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) { r.array = "0-3", r.hold = true; });
  JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterok:" + std::to_string(a.value); });
  EXPECT_EQ(format_dependencies(*b.get(after).dependencies), "afterok:" + std::to_string(a.value) + "_*(unfulfilled)");
}

Errc refused(Bench& b, const std::function<void(JobRequest&)>& change) {
  JobRequest q = Bench::request(change);
  Errc code = Errc::kOk;
  b.turn([&] {
    auto r = b.core.run(Caller{q.uid, q.gid, {}, {}}, q);
    if (!r) code = r.error().code;
  });
  return code;
}

TEST(Submit, ImmediateDoesNotWaitForANamedNodeThatIsOutOfService) {
  Bench b;
  rpc::UpdateNode drain;
  drain.nodes = "n1";
  drain.changes = {pair_of("State", "DRAIN"), pair_of("Reason", "disk")};
  b.turn([&] { ASSERT_TRUE(b.core.run(Caller::root(), drain)); });
  auto on = [](const char* node, uint32_t wait) { return [=](JobRequest& r) { r.required_nodes = node, r.immediate_seconds = wait; }; };
  EXPECT_EQ(refused(b, on("n1", 1)), Errc::kNodeNotAvailable);
  EXPECT_EQ(refused(b, on("n1", 0)), Errc::kOk);
  EXPECT_EQ(refused(b, on("n0", 1)), Errc::kOk);
  EXPECT_EQ(refused(b, [](JobRequest& r) { r.required_nodes = r.excluded_nodes = "n2"; }), Errc::kInvalidNodeName);
}

TEST(Submit, AnAlternatePartitionTakesTheJobsOfOneThatTakesNone) {
  Bench b(
      "PartitionName=a Nodes=ALL State=DRAIN Alternate=b\nPartitionName=b Nodes=ALL State=INACTIVE Alternate=c\n"
      "PartitionName=c Nodes=ALL\nPartitionName=x Nodes=ALL State=DRAIN Alternate=y\nPartitionName=y Nodes=ALL State=DRAIN Alternate=x\n");
  const Job& j = b.get(b.submit([](JobRequest& r) { r.partitions = {"a", "main"}; }));
  EXPECT_EQ(j.request->partitions, (std::vector<std::string>{"c", "main"}));
  b.core.begin(b.now);
  auto circle = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.partitions = {"x"}; }));
  ASSERT_FALSE(circle.has_value());
  EXPECT_EQ(circle.error().code, Errc::kPartitionNotAvailable);
}

TEST(Submit, AboveTheMemoryLimitAJobWaitsUnlessLimitsAreEnforced) {
  auto much = [](JobRequest& r) { r.mem_per_node_mb = 3000; };
  Bench waits("MaxMemPerNode=2000\n"), refuses("MaxMemPerNode=2000\nEnforcePartLimits=ALL\n");
  JobId j = waits.submit(much);
  EXPECT_EQ(waits.plan(), 0u);
  ASSERT_TRUE(waits.core.cluster().moment.verdicts.contains(j.value));
  EXPECT_EQ(waits.core.cluster().moment.verdicts.at(j.value).reason, Reason::kMaxMemPerLimit);
  EXPECT_EQ(refused(refuses, much), Errc::kMemoryRequest);
}

TEST(Submit, TheSiteBoundsHowLongAJobWaitsForSwitches) {
  Bench b("SchedulerParameters=max_switch_wait=60\n");
  JobId j = b.submit([](JobRequest& r) { r.switches = 2, r.switches_wait = seconds(600), r.hold = true; });
  EXPECT_EQ(b.get(j).request->switches_wait, seconds(60));
  EXPECT_EQ(b.get(j).eligible, kTimeUnset);  // held from the start: eligible when it is released
  b.control(rpc::JobAction::kRelease, j);
  EXPECT_EQ(b.get(j).eligible, b.now);
}

}  // namespace
}  // namespace muster::slurmctld
