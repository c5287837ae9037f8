// Jobs that make room for others, jobs that take turns, and how they come back into the queue.
#include <signal.h>

#include "sched/explain/explain.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

const std::string kUrgent = "PartitionName=urgent Nodes=n[0-3] PriorityTier=9 MaxTime=60\n";
std::string preempting(const std::string& mode, const std::string& more = "") {
  return "PreemptType=preempt/partition_prio\nPreemptMode=" + mode + "\n" + more + kUrgent;
}

JobId low(Bench& b, const std::function<void(JobRequest&)>& change = {}) {
  return b.submit([&](JobRequest& r) {
    r.exclusive = Exclusive::kNode;
    if (change) change(r);
  });
}
JobId urgent(Bench& b, const std::function<void(JobRequest&)>& change = {}) {
  return low(b, [&](JobRequest& r) {
    r.partitions = {"urgent"};
    if (change) change(r);
  });
}

// Four nodes with a job each, and one that may take the place of one of them.
struct Full {
  Bench b;
  std::vector<JobId> jobs;
  JobId waits;
  explicit Full(const std::string& conf, const std::function<void(JobRequest&)>& change = {}) : b(conf) {
    for (int i = 0; i < 4; ++i) jobs.push_back(low(b, change));
    EXPECT_EQ(b.plan(), 4u);
    for (JobId id : jobs) b.started(id);
    b.wait(seconds(10));
    waits = urgent(b);
    b.plan();
  }
  JobId victim() const {
    for (JobId id : jobs)
      if (b.exists(id) && b.get(id).is_preempted()) return id;
    return {};
  }
};

TEST(Preemption, AJobIsRequeuedAndItsPlaceIsTaken) {
  Full f(preempting("REQUEUE"));
  const JobId v = f.victim();
  ASSERT_TRUE(v);
  EXPECT_EQ(f.b.state(v), JobState::kPreempted);
  EXPECT_TRUE(f.b.get(v).flags & kJobCompleting);
  EXPECT_EQ(f.b.get(v).run->preempted_by, f.waits);
  EXPECT_EQ(f.b.state(f.waits), JobState::kPending);
  ASSERT_TRUE(f.b.get(f.waits).turns->claim);
  EXPECT_EQ(f.b.get(f.waits).turns->claim->victims, std::vector<JobId>{v});
  EXPECT_EQ(f.b.orders<node_rpc::TerminateJob>().size(), 1u);
  EXPECT_EQ(f.b.plan(), 0u);  // nobody else has to go
  f.b.expect_replay_equal();
  f.b.gone(v, f.b.host(v));
  EXPECT_EQ(f.b.state(v), JobState::kPending);
  EXPECT_EQ(f.b.get(v).restarts, 1u);
  EXPECT_EQ(f.b.get(v).turns->restart.cause, RestartCause::kPreempted);
  EXPECT_EQ(f.b.get(v).turns->restart.by, f.waits);
  EXPECT_EQ(f.b.plan(), 1u);
  EXPECT_EQ(f.b.state(f.waits), JobState::kRunning);
  EXPECT_FALSE(f.b.get(f.waits).turns->claim);
  EXPECT_EQ(f.b.state(v), JobState::kPending);
  f.b.expect_replay_equal();
}

TEST(Preemption, ACancelledOneStaysEnded) {
  Full f(preempting("CANCEL"));
  const JobId v = f.victim();
  f.b.gone(v, f.b.host(v));
  EXPECT_EQ(f.b.state(v), JobState::kPreempted);
  EXPECT_FALSE(f.b.get(v).flags & kJobRequeued);
  EXPECT_EQ(f.b.plan(), 1u);
  f.b.expect_replay_equal();
}

TEST(Preemption, OneThatMayNotBeRequeuedIsCancelled) {
  Full f(preempting("REQUEUE"), [](JobRequest& r) { r.requeue = TriState::kNo; });
  f.b.gone(f.victim(), f.b.host(f.victim()));
  EXPECT_EQ(f.b.state(f.victim()), JobState::kPreempted);
  EXPECT_EQ(f.b.get(f.victim()).restarts, 0u);
}

TEST(Preemption, GraceTimeLetsTheJobEndByItself) {
  Full f(preempting("REQUEUE", "PartitionName=DEFAULT GraceTime=30\n"));
  const JobId v = f.victim();
  ASSERT_TRUE(v);
  EXPECT_EQ(f.b.state(v), JobState::kRunning);
  EXPECT_EQ(f.b.get(v).ends, f.b.now + seconds(30));
  EXPECT_EQ(f.b.get(v).run->preempted, f.b.now);
  const auto signals = f.b.orders<node_rpc::SignalJob>();
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_EQ(signals[0].signal, SIGCONT);
  EXPECT_EQ(signals[1].signal, SIGTERM);
  f.b.wait(seconds(10));
  EXPECT_EQ(f.b.plan(), 0u);
  f.b.expect_replay_equal();
  // However it ends now: it is requeued.
  f.b.ends(v, 0);
  EXPECT_EQ(f.b.state(v), JobState::kPending);
  EXPECT_EQ(f.b.get(v).turns->restart.cause, RestartCause::kPreempted);
  EXPECT_EQ(f.b.plan(), 1u);
  EXPECT_EQ(f.b.state(f.waits), JobState::kRunning);
}

TEST(Preemption, AtTheEndOfGraceTimeItIsEnded) {
  Full f(preempting("CANCEL", "OverTimeLimit=60\nPartitionName=DEFAULT GraceTime=30\n"));
  const JobId v = f.victim();
  f.b.wait(seconds(29));
  EXPECT_EQ(f.b.state(v), JobState::kRunning);
  f.b.wait(seconds(1));
  EXPECT_EQ(f.b.state(v), JobState::kPreempted);
  f.b.expect_replay_equal();
}

TEST(Preemption, AUserWhoCancelsItMeansIt) {
  Full f(preempting("REQUEUE", "PartitionName=DEFAULT GraceTime=30\n"));
  f.b.cancel(f.victim());
  EXPECT_EQ(f.b.state(f.victim()), JobState::kCancelled);
}

TEST(Preemption, SendUserSignalInsteadOfTerm) {
  Full f(preempting("REQUEUE", "PreemptParameters=send_user_signal\nPartitionName=DEFAULT GraceTime=30\n"), [](JobRequest& r) {
    r.warn.signal = SIGUSR1;
    r.warn.seconds_before_end = 5;
  });
  const auto signals = f.b.orders<node_rpc::SignalJob>();
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_EQ(signals[0].signal, SIGUSR1);
  EXPECT_TRUE(f.b.get(f.victim()).run->time_warned & kWarnedSignal);  // not a second time before its end
}

TEST(Preemption, AClaimGoesWithItsJob) {
  Full f(preempting("REQUEUE", "PartitionName=DEFAULT GraceTime=30\n"));
  f.b.cancel(f.waits);
  EXPECT_FALSE(f.b.get(f.waits).turns->claim);
  EXPECT_TRUE(f.b.core.indexes().claiming().empty());
  f.b.expect_replay_equal();
}

// What was freed for a job is its own, whoever comes meanwhile.
TEST(Preemption, NobodyElseTakesWhatIsClaimed) {
  Full f(preempting("REQUEUE", "PartitionName=DEFAULT GraceTime=30\n"));
  const JobId v = f.victim();
  f.b.ends(v, 0);
  const JobId other = urgent(f.b, [](JobRequest& r) { r.priority = 5000; });
  f.b.plan();
  EXPECT_EQ(f.b.state(f.waits), JobState::kRunning);
  EXPECT_EQ(f.b.state(other), JobState::kPending);
}

TEST(Preemption, EachTaskOfAnArrayGetsItsOwnRecordAndClaim) {
  Bench b(preempting("REQUEUE"));
  for (int i = 0; i < 4; ++i) low(b);
  EXPECT_EQ(b.plan(), 4u);
  const JobId array = urgent(b, [](JobRequest& r) { r.array = "0-1"; });
  b.plan();
  size_t claims = 0;
  b.core.cluster().jobs.for_each([&](uint32_t, const Job& j) { claims += j.turns->claim != nullptr; });
  EXPECT_EQ(claims, 2u);
  EXPECT_EQ(b.get(array).array_tasks, nullptr);
  b.expect_replay_equal();
}

// ---- SUSPEND and GANG
const std::string kShared =
    "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nPartitionName=DEFAULT OverSubscribe=FORCE:1\n" + kUrgent;

JobId sharing(Bench& b, const std::string& partition = "", uint32_t nodes = 1) {
  return b.submit([&](JobRequest& r) {
    r.num_tasks = 4 * nodes;
    r.min_nodes = r.max_nodes = nodes;
    r.mem_per_node_mb = 500;
    if (!partition.empty()) r.partitions = {partition};
  });
}

TEST(Gang, AJobOfALowerTierIsSuspendedAndGoesOn) {
  Bench b(kShared);
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(sharing(b));
  EXPECT_EQ(b.plan(), 4u);
  for (JobId id : jobs) b.started(id);
  const JobId hi = sharing(b, "urgent");
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(hi), JobState::kRunning);
  JobId stopped;
  for (JobId id : jobs)
    if (b.state(id) == JobState::kSuspended) stopped = id;
  ASSERT_TRUE(stopped);
  EXPECT_EQ(b.get(stopped).run->suspend_cause, SuspendCause::kPreempted);
  EXPECT_EQ(b.orders<node_rpc::SuspendJob>().size(), 1u);
  EXPECT_EQ(b.host(hi), b.host(stopped));
  b.expect_replay_equal();
  b.wait(minutes(2));  // slices make no difference between tiers
  EXPECT_EQ(b.state(stopped), JobState::kSuspended);
  const Time was_to_end = b.get(stopped).ends;
  b.started(hi);
  b.ends(hi);
  EXPECT_EQ(b.state(stopped), JobState::kRunning);
  EXPECT_EQ(b.get(stopped).ends, was_to_end + minutes(2));
  b.expect_replay_equal();
}

// Guide gang_scheduling, "A Simple Example": the second job is suspended at once, and they swap every SchedulerTimeSlice.
TEST(Gang, TwoJobsTakeTurns) {
  Bench b("PreemptMode=GANG\nSchedulerTimeSlice=30\nPartitionName=DEFAULT OverSubscribe=FORCE:2\n");
  const JobId first = sharing(b, "", 4);
  EXPECT_EQ(b.plan(), 1u);
  b.wait(seconds(13));
  const JobId second = sharing(b, "", 4);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.state(second), JobState::kSuspended);
  EXPECT_EQ(b.get(second).run->suspend_cause, SuspendCause::kTimeSlice);
  const JobRow row = make_job_row(b.core.cluster(), sched::PriorityRule(b.core.cluster(), b.settings.priority, b.now), b.get(second), 0);
  EXPECT_EQ(row.reason, Reason::kNone);  // squeue(1): reasons are those of jobs that wait
  EXPECT_EQ(row.reason_detail, "suspended: its turn comes again (time slice)");
  const JobExplanation said = sched::explain_job(b.core.cluster(), b.settings.sched, b.now, b.get(second));
  EXPECT_EQ(said.detail, "its turn comes again (time slice)");
  EXPECT_TRUE(b.orders<node_rpc::LaunchBatch>().empty());  // its script begins with its first slice
  b.expect_replay_equal();
  b.wait(seconds(29));
  EXPECT_EQ(b.state(first), JobState::kRunning);
  b.wait(seconds(1));
  EXPECT_EQ(b.state(first), JobState::kSuspended);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  EXPECT_EQ(b.orders<node_rpc::LaunchBatch>().size(), 1u);
  b.wait(seconds(30));
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.state(second), JobState::kSuspended);
  b.expect_replay_equal();
  b.cancel(first);
  for (uint32_t i = 0; i < 4; ++i) b.gone(first, i);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  EXPECT_TRUE(b.core.indexes().waiting_turns().empty());
}

// FORCE:2 is two jobs, running or suspended.
TEST(Gang, SuspendedJobsKeepTheirPlace) {
  Bench b("PreemptMode=GANG\nPartitionName=DEFAULT OverSubscribe=FORCE:2\n");
  for (int i = 0; i < 3; ++i) sharing(b, "", 4);
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.plan(), 0u);
}

// ---- scontrol suspend
TEST(Suspend, OthersGetTheCpusAndNothingElse) {
  Bench b;
  const JobId first = sharing(b, "", 4);
  EXPECT_EQ(b.plan(), 1u);
  b.control(rpc::JobAction::kSuspend, first);
  EXPECT_EQ(b.node(0).cpus_used.count(), 0u);
  EXPECT_EQ(b.node(0).mem_used_mb, 500u);
  EXPECT_EQ(b.node(0).jobs_off, 1u);
  b.expect_replay_equal();
  const JobId big = b.submit([](JobRequest& r) { r.mem_per_node_mb = 3900; });
  EXPECT_EQ(b.plan(), 0u);  // memory is held
  b.cancel(big);
  const JobId second = sharing(b, "", 4);
  EXPECT_EQ(b.plan(), 1u);
  b.control(rpc::JobAction::kResume, first);
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  EXPECT_EQ(b.node(0).jobs_off, 0u);
  b.expect_replay_equal();
  for (JobId id : {first, second}) {
    b.cancel(id);
    for (uint32_t i = 0; i < 4; ++i) b.gone(id, i);
  }
  EXPECT_EQ(b.node(0).cpus_used.count(), 0u);
  EXPECT_FALSE(b.node(0).has_jobs());
  b.expect_replay_equal();
}

TEST(Suspend, AJobThatEndsSuspendedLeavesNothing) {
  Bench b;
  const JobId job = sharing(b, "", 4);
  b.plan();
  b.control(rpc::JobAction::kSuspend, job);
  b.cancel(job);
  EXPECT_EQ(b.node(1).jobs_completing, 1u);
  EXPECT_EQ(b.node(1).jobs_off, 0u);
  for (uint32_t i = 0; i < 4; ++i) b.gone(job, i);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(b.node(i).has_jobs());
    EXPECT_EQ(b.node(i).mem_used_mb, 0u);
  }
  b.expect_replay_equal();
}

// ---- requeue
TEST(Requeue, AnExitCodeThatComesBackForEverIsHeldInTheEnd) {
  Bench b("RequeueExit=7\nMaxBatchRequeue=2\n");
  const JobId job = low(b);
  for (uint32_t run = 0; run < 2; ++run) {
    EXPECT_EQ(b.plan(), 1u) << run;
    b.started(job);
    b.ends(job, 7 << 8);
    EXPECT_EQ(b.get(job).turns->restart.cause, RestartCause::kExitCode);
    EXPECT_GT(b.get(job).priority, 0u);
  }
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  b.ends(job, 7 << 8);
  EXPECT_EQ(b.get(job).priority, 0u);
  EXPECT_EQ(b.get(job).reason, Reason::kJobHoldMaxRequeue);
  b.expect_replay_equal();
}

TEST(Requeue, PreemptionDoesNotCountAsAFailure) {
  Bench b(preempting("REQUEUE", "MaxBatchRequeue=0\n"));
  const JobId v = low(b, [](JobRequest& r) { r.min_nodes = 4; });
  b.plan();
  urgent(b);
  b.plan();
  for (uint32_t i = 0; i < 4; ++i) b.gone(v, i);
  EXPECT_EQ(b.state(v), JobState::kPending);
  EXPECT_GT(b.get(v).priority, 0u);
}

TEST(Requeue, TheRecordSaysWho) {
  Bench b;
  const JobId job = low(b);
  b.plan();
  b.control(rpc::JobAction::kRequeue, job, Caller{Uid(1000), Gid(1000), {}, {}});
  b.gone(job, b.host(job));
  EXPECT_EQ(b.get(job).turns->restart.cause, RestartCause::kUser);
  EXPECT_EQ(b.get(job).turns->restart.user, Uid(1000));
  EXPECT_EQ(why_restarted(b.core.cluster(), b.get(job)), "requeued by uid 1000");
  EXPECT_EQ(b.plan(), 1u);
  const uint32_t node = b.host(job);
  b.set_node("n" + std::to_string(node), "DOWN");
  b.gone(job, node);
  EXPECT_EQ(why_restarted(b.core.cluster(), b.get(job)), "node n" + std::to_string(node) + " failed");
  EXPECT_EQ(b.plan(), 1u);
  const auto launched = b.orders<node_rpc::LaunchBatch>();
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(launched[0].job.restart, "node n" + std::to_string(node) + " failed");
  b.expect_replay_equal();
}

TEST(Requeue, ExpeditedOnesStartAtOnceAndFirst) {
  Bench b("SlurmctldParameters=enable_expedited_requeue\nSchedulerParameters=requeue_delay=60\n");
  const JobId job = low(b, [](JobRequest& r) {
    r.requeue = TriState::kYes;
    r.requeue_expedite = true;
    r.min_nodes = 2;
  });
  EXPECT_EQ(b.plan(), 1u);
  b.set_node("n" + std::to_string(b.host(job)), "DOWN");
  for (uint32_t i = 0; i < 4; ++i) b.gone(job, i);
  ASSERT_EQ(b.state(job), JobState::kPending);
  EXPECT_TRUE(b.get(job).flags & kJobExpediting);
  EXPECT_EQ(b.get(job).eligible, b.now);
  EXPECT_EQ(b.get(job).priority, kUnlimited32 - 1);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_FALSE(b.get(job).flags & (kJobExpediting | kJobPriorityFixed));
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
