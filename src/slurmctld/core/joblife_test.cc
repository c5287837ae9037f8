// The life of running jobs: suspend as an obligation, warnings and mail, deadlines, array limits after a requeue, launch
// failures, blobs.
#include "model/mail.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/job_filter.h"

namespace muster::slurmctld {
namespace {

std::vector<std::string> subjects(const Bench& b) {  // "7 Began": enough to tell mails apart
  std::vector<std::string> out;
  for (const Effect& e : b.effects)
    if (auto* m = std::get_if<SendMail>(&e))
      out.push_back(std::to_string(m->job.id.value) + (m->array ? " array " : " ") + format_mail_type(m->what));
  return out;
}
using Mails = std::vector<std::string>;

struct Running {
  Bench b;
  JobId job;
  explicit Running(const std::function<void(JobRequest&)>& change = {}, const std::string& conf = "") : b(conf) {
    job = b.submit(change);
    EXPECT_EQ(b.plan(), 1u);
    b.started(job);
  }
};

// ---- suspend
TEST(Suspend, IsRepeatedUntilEachNodeConfirmed) {
  Running r([](JobRequest& q) { q.min_nodes = q.max_nodes = 2; });
  r.b.control(rpc::JobAction::kSuspend, r.job);
  EXPECT_EQ(r.b.orders<node_rpc::SuspendJob>().size(), 2u);
  uint32_t first = r.b.host(r.job);
  r.b.report(first, node_rpc::JobSettled{r.job, 0, true});
  EXPECT_EQ(r.b.get(r.job).run->settling.count(), 1u);
  r.b.wait(seconds(20));  // the other one has said nothing
  auto again = r.b.orders<node_rpc::SuspendJob>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].suspend);
  r.b.report(r.b.get(r.job).allocation->nodes[1].node.value, node_rpc::JobSettled{r.job, 0, true});
  EXPECT_TRUE(r.b.get(r.job).run->settling.none());
  r.b.wait(seconds(60));
  EXPECT_TRUE(r.b.orders<node_rpc::SuspendJob>().empty());
  r.b.expect_replay_equal();
}

// scontrol(1) SuspendTime: "Time the job was last suspended or resumed".
TEST(Suspend, ItsTimeIsThatOfTheLastStopOrGo) {
  Running r;
  r.b.wait(seconds(40));
  r.b.control(rpc::JobAction::kSuspend, r.job);
  const Time stopped = r.b.now;
  EXPECT_EQ(r.b.get(r.job).run->suspended, stopped);
  r.b.wait(seconds(30));
  r.b.control(rpc::JobAction::kResume, r.job);
  const Job& j = r.b.get(r.job);
  EXPECT_EQ(j.run->suspended, stopped + seconds(30));
  EXPECT_EQ(j.run->suspended - j.started - j.run->suspended_total, stopped - j.started) << "what it ran before that stays (SecsPreSuspend)";
  r.b.expect_replay_equal();
}

TEST(Suspend, AConfirmationOfTheOppositeIsNone) {
  Running r;
  uint32_t node = r.b.host(r.job);
  r.b.control(rpc::JobAction::kSuspend, r.job);
  r.b.control(rpc::JobAction::kResume, r.job);
  r.b.report(node, node_rpc::JobSettled{r.job, 0, true});  // late
  EXPECT_EQ(r.b.get(r.job).run->settling.count(), 1u);
  r.b.wait(seconds(20));
  ASSERT_EQ(r.b.orders<node_rpc::SuspendJob>().size(), 1u);
  EXPECT_FALSE(r.b.orders<node_rpc::SuspendJob>()[0].suspend);
  r.b.report(node, node_rpc::JobSettled{r.job, 0, false});
  EXPECT_TRUE(r.b.get(r.job).run->settling.none());
}

TEST(Suspend, IsSentAgainWhenTheNodeComesBack) {
  Running r;
  uint32_t node = r.b.host(r.job);
  r.b.turn([&] { r.b.core.node_disconnected(NodeId(node)); });
  r.b.control(rpc::JobAction::kSuspend, r.job);
  EXPECT_TRUE(r.b.orders<node_rpc::SuspendJob>().empty());
  node_rpc::NodeJob there;
  there.job = r.job;
  there.batch = true;
  r.b.register_node(node, "boot1", {there});
  EXPECT_EQ(r.b.orders<node_rpc::SuspendJob>().size(), 1u);
}

// ---- mail
TEST(Mail, EndIsForEndsThatAreNoFailures) {
  Running ok([](JobRequest& q) { q.mail_type = kMailEnd | kMailFail; });
  ok.b.ends(ok.job);
  EXPECT_EQ(subjects(ok.b), Mails{"1 END"});
  Running bad([](JobRequest& q) { q.mail_type = kMailEnd | kMailFail; });
  bad.b.ends(bad.job, 1 << 8);
  EXPECT_EQ(subjects(bad.b), Mails{"1 FAIL"});
  Running quiet([](JobRequest& q) { q.mail_type = kMailEnd; });
  quiet.b.ends(quiet.job, 1 << 8);
  EXPECT_TRUE(subjects(quiet.b).empty());
}

TEST(Mail, WhenTheTimeIsUsedUp) {
  Running r([](JobRequest& q) { q.mail_type = kMailTimeLimit50 | kMailTimeLimit80 | kMailTimeLimit90 | kMailTimeLimit | kMailFail; });
  r.b.wait(minutes(5));
  EXPECT_EQ(subjects(r.b), Mails{"1 TIME_LIMIT_50"});
  r.b.wait(minutes(2));
  EXPECT_TRUE(subjects(r.b).empty());
  r.b.wait(minutes(2));
  EXPECT_EQ(subjects(r.b), (Mails{"1 TIME_LIMIT_80", "1 TIME_LIMIT_90"}));
  r.b.wait(minutes(1));
  EXPECT_EQ(subjects(r.b), (Mails{"1 TIME_LIMIT", "1 FAIL"}));
  r.b.expect_replay_equal();
}

TEST(Mail, OfAnArrayAsAWholeOrOfItsTasks) {
  for (bool each : {false, true}) {
    Bench b;
    JobId j = b.submit([&](JobRequest& q) {
      q.array = "0-1";
      q.mail_type = static_cast<uint16_t>(kMailBegin | kMailEnd | (each ? kMailArrayTasks : 0));
    });
    EXPECT_EQ(b.plan(), 2u);
    EXPECT_EQ(subjects(b).size(), each ? 2u : 1u);
    JobId other(j.value + 1);
    b.started(j);
    b.started(other);
    b.ends(other);
    EXPECT_EQ(subjects(b).size(), each ? 1u : 0u);
    b.ends(j);
    ASSERT_EQ(subjects(b).size(), 1u);
    EXPECT_EQ(subjects(b)[0].find("array") != std::string::npos, !each);
  }
}

TEST(Mail, InvalidDependencyIsToldOnce) {
  Bench b;
  JobId first = b.submit();
  JobId second = b.submit([&](JobRequest& q) {
    q.dependency = "afternotok:" + std::to_string(first.value);
    q.mail_type = kMailInvalidDepend;
  });
  b.plan();
  b.started(first);
  b.ends(first);
  EXPECT_EQ(subjects(b), Mails{std::to_string(second.value) + " INVALID_DEPEND"});
  (void)b.update(second, "Comment", "x");
  EXPECT_TRUE(subjects(b).empty());
}

// ---- deadline
TEST(Deadline, EndsAJobThatCanNoLongerEndInTime) {
  Bench b;
  JobId j = b.submit([&](JobRequest& q) {
    q.deadline = b.now + minutes(15);
    q.hold = true;
  });
  b.wait(minutes(5));  // ten minutes are just left
  EXPECT_EQ(b.state(j), JobState::kPending);
  b.wait(seconds(1));
  EXPECT_EQ(b.state(j), JobState::kDeadline);
  EXPECT_EQ(b.get(j).reason, Reason::kDeadLine);
}

TEST(Deadline, TimeMinIsTheLeast) {
  Bench b;
  JobId j = b.submit([&](JobRequest& q) {
    q.deadline = b.now + minutes(15);
    q.time_min_min = 3;
    q.hold = true;
  });
  b.wait(minutes(11));
  EXPECT_EQ(b.state(j), JobState::kPending);
  b.wait(minutes(2));
  EXPECT_EQ(b.state(j), JobState::kDeadline);
}

TEST(Deadline, MustBeWithinReachAtSubmission) {
  Bench b("PartitionName=endless Nodes=ALL\n");
  auto answer = [&](uint32_t deadline_min, uint32_t limit_min, uint32_t time_min, uint32_t begin_min = 0) {
    JobRequest q = Bench::request();
    q.deadline = b.now + minutes(deadline_min);
    q.time_limit_min = limit_min;
    q.time_min_min = time_min;
    if (begin_min) q.begin = b.now + minutes(begin_min);
    Result<rpc::JobSubmitted> r;
    b.turn([&] { r = b.core.run(Caller{q.uid, {}, {}, {}}, q); });
    return r ? Errc::kOk : r.error().code;
  };
  EXPECT_EQ(answer(0, 10, 0), Errc::kInvalidTimeLimit);  // over
  EXPECT_EQ(answer(60, 61, 0), Errc::kInvalidTimeLimit);
  EXPECT_EQ(answer(60, 60, 0), Errc::kOk);
  EXPECT_EQ(answer(50, 60, 60), Errc::kInvalidTimeMin);
  EXPECT_EQ(answer(60, 10, 0, 51), Errc::kInvalidTimeLimit);  // counted from --begin
  EXPECT_EQ(answer(60, 10, 0, 61), Errc::kInvalidTimeLimit);
  EXPECT_EQ(answer(60, 10, 11), Errc::kInvalidTimeMin);  // longer than the limit
}

TEST(Deadline, LeavesTheLimitThatIsNotNamedOrMayBeShorter) {
  Bench b("PartitionName=endless Nodes=ALL\n");
  auto submit = [&](std::optional<uint32_t> limit_min, uint32_t time_min, uint32_t deadline_min) {
    return b.submit([&](JobRequest& q) {
      q.partitions = {"endless"};
      q.time_limit_min = limit_min;
      q.time_min_min = time_min;
      q.deadline = b.now + minutes(deadline_min);
      q.hold = true;
    });
  };
  JobId unnamed = submit(std::nullopt, 0, 10), shorter = submit(120, 20, 60), fits = submit(120, 20, 150);
  EXPECT_EQ(b.get(unnamed).time_limit_min, 10u);
  EXPECT_EQ(b.get(shorter).time_limit_min, 60u);
  EXPECT_EQ(b.get(fits).time_limit_min, 120u);
  b.wait(minutes(4));  // it starts later, and has what is left then
  b.control(rpc::JobAction::kRelease, unnamed);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.get(unnamed).time_limit_min, 6u);
  EXPECT_EQ(b.get(unnamed).ends, b.now + minutes(6));
}

// ---- stopped
TEST(Signal, StopAndContinueAreShown) {
  Running r;
  auto signal = [&](uint16_t number, bool step = false) {
    rpc::SignalJobs c;
    c.signal = number;
    c.filter.jobs.push_back({.job = r.job, .has_step = step, .step = kBatchStep});
    r.b.turn([&] { EXPECT_TRUE(r.b.core.run(Caller::root(), c)->errors.empty()); });
    return std::string(job_state_shown(r.b.state(r.job), r.b.get(r.job).flags));
  };
  EXPECT_EQ(signal(19, true), "RUNNING");  // a step alone
  EXPECT_EQ(signal(19), "STOPPED");
  EXPECT_TRUE(r.b.get(r.job).flags & kJobStopped);
  EXPECT_EQ(signal(10), "STOPPED");
  rpc::JobFilter runs, stopped;
  runs.states = 1u << static_cast<unsigned>(JobState::kRunning);
  stopped.state_flags = kJobStopped;
  EXPECT_FALSE(matches_filter(r.b.core.cluster(), r.b.get(r.job), runs));
  EXPECT_TRUE(matches_filter(r.b.core.cluster(), r.b.get(r.job), stopped));
  EXPECT_EQ(signal(18), "RUNNING");
  signal(19);
  r.b.ends(r.job);
  EXPECT_FALSE(r.b.get(r.job).flags & kJobStopped);
  r.b.expect_replay_equal();
}

// ---- arrays
TEST(Array, LimitHoldsForTasksThatComeBack) {
  Bench b;
  JobId j = b.submit([](JobRequest& q) {
    q.array = "0-2%1";
    q.requeue = TriState::kYes;
  });
  EXPECT_EQ(b.plan(), 1u);
  JobId first(j.value + 1);
  b.started(first);
  b.control(rpc::JobAction::kRequeue, first);
  b.gone(first, b.host(first));
  EXPECT_EQ(b.state(first), JobState::kPending);
  EXPECT_EQ(b.plan(), 1u);  // one of the three, not two
  b.expect_replay_equal();
}

TEST(Array, NoMoreTasksThanMaxArrayTasks) {
  Bench b("SchedulerParameters=max_array_tasks=3\n");
  auto submit = [&](const char* array) {
    JobRequest q = b.request();
    q.array = array;
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    b.turn([&] { r = b.core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return r ? std::string() : std::string(r.error().hint);
  };
  EXPECT_EQ(submit("0-999:400"), "");
  EXPECT_EQ(submit("1-4"), "it has 4 tasks, SchedulerParameters=max_array_tasks allows 3");
}

// ---- launch failures
struct NoLaunch : Running {
  NoLaunch(const std::string& conf) : Running([](JobRequest& q) { q.requeue = TriState::kYes; }, conf) {}
  void fails() {
    uint32_t node = b.host(job);
    b.report(node, node_rpc::LaunchFailed{job, b.get(job).restarts, true, "Prolog error"});
    b.gone(job, node);
    EXPECT_TRUE(b.node(node).flags & kNodeDrain);
  }
};

TEST(LaunchFailure, HoldsTheJobForItsOwnerAndDrainsTheNode) {
  NoLaunch n("");
  n.fails();
  EXPECT_EQ(n.b.get(n.job).reason, Reason::kLaunchFailedHeld);
  EXPECT_EQ(n.b.plan(), 0u);
  n.b.control(rpc::JobAction::kRelease, n.job, Caller{Uid(1000), {}, {}, {}});
  EXPECT_EQ(n.b.plan(), 1u);
}

TEST(LaunchFailure, NoholdTriesElsewhere) {
  NoLaunch n("SchedulerParameters=nohold_on_prolog_fail\n");
  n.fails();
  EXPECT_EQ(n.b.plan(), 1u);
}

TEST(LaunchFailure, NoholdEndsAtMaxBatchRequeue) {
  NoLaunch n("SchedulerParameters=nohold_on_prolog_fail\nMaxBatchRequeue=1\n");
  n.fails();
  EXPECT_EQ(n.b.plan(), 1u);
  n.fails();
  EXPECT_EQ(n.b.get(n.job).reason, Reason::kJobHoldMaxRequeue);
  EXPECT_EQ(n.b.plan(), 0u);
}

// ---- exit codes
TEST(ExitCode, IsTheScriptsAlsoWhenTheJobWasEndedBefore) {
  Running r;
  r.b.cancel(r.job);
  EXPECT_EQ(r.b.get(r.job).exit_status, 0);
  r.b.ends(r.job, 15);
  EXPECT_EQ(r.b.state(r.job), JobState::kCancelled);
  EXPECT_EQ(r.b.get(r.job).exit_status, 15);
  r.b.expect_replay_equal();
}

// ---- the other ends
TEST(End, ByASignalACodeOrTheMemory) {
  Running by_signal, by_code, by_memory;
  by_signal.b.ends(by_signal.job, 9);
  EXPECT_EQ(by_signal.b.state(by_signal.job), JobState::kFailed);
  EXPECT_EQ(by_signal.b.get(by_signal.job).reason, Reason::kFailedSignal);
  by_code.b.ends(by_code.job, 3 << 8);
  EXPECT_EQ(by_code.b.get(by_code.job).reason, Reason::kNonZeroExitCode);
  by_memory.b.report(by_memory.b.host(by_memory.job), node_rpc::BatchFinished{by_memory.job, 0, 9, true, true});
  EXPECT_EQ(by_memory.b.state(by_memory.job), JobState::kOutOfMemory);
  EXPECT_EQ(by_memory.b.get(by_memory.job).reason, Reason::kOutOfMemory);
}

TEST(End, WhenTheTimeIsUp) {
  Running r;
  r.b.wait(minutes(10));
  EXPECT_EQ(r.b.state(r.job), JobState::kTimeout);
  EXPECT_EQ(r.b.get(r.job).reason, Reason::kTimeLimit);
  EXPECT_TRUE(r.b.get(r.job).flags & kJobCompleting);
}

TEST(End, OfAJobThatCannotBeLaunched) {
  Running r;
  r.b.report(r.b.host(r.job), node_rpc::LaunchFailed{r.job, 0, false, "no such directory"});
  EXPECT_EQ(r.b.state(r.job), JobState::kFailed);
  EXPECT_EQ(r.b.get(r.job).reason, Reason::kJobLaunchFailure);
  EXPECT_TRUE(r.b.get(r.job).flags & kJobLaunchFailed);
}

TEST(End, WithItsNode) {
  Running r([](JobRequest& q) { q.requeue = TriState::kNo; });
  r.b.set_node("n" + std::to_string(r.b.host(r.job)), "DOWN");
  EXPECT_EQ(r.b.state(r.job), JobState::kNodeFail);
  EXPECT_EQ(r.b.get(r.job).reason, Reason::kNodeDown);
}

TEST(End, SpecialExitIsHeld) {
  Running r([](JobRequest& q) { q.requeue = TriState::kYes; }, "RequeueExitHold=7\n");
  r.b.ends(r.job, 7 << 8);
  EXPECT_EQ(r.b.state(r.job), JobState::kPending);
  EXPECT_TRUE(r.b.get(r.job).flags & kJobSpecialExit);
  EXPECT_EQ(r.b.plan(), 0u);
}

TEST(End, WhenItsNodesDoNotBoot) {
  Bench b("NodeName=c0 CPUs=4 RealMemory=4000 State=CLOUD\nPartitionName=cloud Nodes=c0 MaxTime=INFINITE State=UP\n"
          "ResumeTimeout=60\nResumeProgram=/bin/true\nSuspendProgram=/bin/true\n",
          false);
  JobId j = b.submit([](JobRequest& q) {
    q.partitions = {"cloud"};
    q.requeue = TriState::kNo;
  });
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_TRUE(b.get(j).flags & kJobConfiguring);
  EXPECT_TRUE(b.get(j).flags & kJobPowerUpNode);
  b.wait(seconds(61));
  EXPECT_EQ(b.state(j), JobState::kBootFail);
}

std::vector<uint32_t> nodes_of(const Job& j) {
  std::vector<uint32_t> out;
  for (const NodeShare& s : j.allocation->nodes) out.push_back(s.node.value);
  return out;
}
Running on_three(bool no_kill, JobKind kind = JobKind::kBatch) {
  return Running([=](JobRequest& q) {
    q.min_nodes = q.max_nodes = 3;
    q.kind = kind;
    q.no_kill = no_kill;
    q.requeue = TriState::kNo;
  });
}

TEST(End, ANodeThatIsLostDoesNotEndAJobThatWantsItSo) {
  for (bool no_kill : {false, true}) {
    Running r = on_three(no_kill);
    r.b.set_node("n1", "DOWN");
    EXPECT_EQ(r.b.state(r.job), no_kill ? JobState::kRunning : JobState::kNodeFail);
    if (!no_kill) continue;
    EXPECT_EQ(nodes_of(r.b.get(r.job)), (std::vector<uint32_t>{0, 2}));  // what is shown is what is left
    EXPECT_EQ(r.b.orders<node_rpc::TerminateJob>().size(), 1u);          // its slurmd is there
    r.b.gone(r.job, 1);
    EXPECT_FALSE(r.b.get(r.job).flags & kJobResizing);
    r.b.set_node("n0", "DOWN");  // that of the script
    EXPECT_EQ(r.b.state(r.job), JobState::kNodeFail);
    r.b.expect_replay_equal();
  }
}

TEST(End, SeveralNodesAreLostAtOnce) {
  for (bool no_kill : {false, true}) {
    Running r = on_three(no_kill);
    r.b.turn([&] {
      r.b.core.node_disconnected(NodeId(1));
      r.b.core.node_disconnected(NodeId(2));
    });
    r.b.set_node("n[1-2]", "DOWN");
    EXPECT_EQ(r.b.state(r.job), no_kill ? JobState::kRunning : JobState::kNodeFail);
    for (uint32_t n : {1u, 2u})
      EXPECT_TRUE(r.b.node(n).cpus_used.none() && r.b.node(n).jobs_running + r.b.node(n).jobs_completing == 0) << n;
    if (no_kill) EXPECT_EQ(nodes_of(r.b.get(r.job)), (std::vector<uint32_t>{0}));
    else EXPECT_EQ(r.b.get(r.job).run->releasing.to_ranges(), "0");
    r.b.expect_replay_equal();
  }
}

TEST(End, AnAllocationEndsWithItsLastNode) {
  Running r = on_three(true, JobKind::kAllocation);
  for (const char* node : {"n0", "n1"}) r.b.set_node(node, "DOWN");
  EXPECT_EQ(r.b.state(r.job), JobState::kRunning);
  r.b.set_node("n2", "DOWN");
  EXPECT_EQ(r.b.state(r.job), JobState::kNodeFail);
}

TEST(End, ANodeThatWasRebootedIsLostToo) {
  Running r = on_three(true);
  r.b.register_node(1, "boot2");
  EXPECT_EQ(r.b.state(r.job), JobState::kRunning);
  EXPECT_EQ(nodes_of(r.b.get(r.job)), (std::vector<uint32_t>{0, 2}));
  EXPECT_FALSE(r.b.orders<node_rpc::TerminateJob>().empty());  // a step may have started there since
  r.b.gone(r.job, 1);
  EXPECT_TRUE(r.b.node(1).cpus_used.none());
}

// ---- steps
struct TwoNodeStep : Running {
  StepId step{};
  TwoNodeStep(uint32_t limit_min = kUnlimited32)
      : Running([](JobRequest& q) { q.min_nodes = q.max_nodes = 2, q.kind = JobKind::kAllocation; },
                "AccountingStorageType=accounting_storage/slurmdbd\n") {
    rpc::CreateStep c;
    c.job = job;
    c.request.min_nodes = c.request.max_nodes = c.request.num_tasks = 2;
    if (limit_min != kUnlimited32) c.request.time_limit_min = limit_min;
    b.turn([&] {
      auto made = b.core.run(Caller::root(), c);
      ASSERT_TRUE(made) << made.error().message();
      step = made->step;
    });
  }
  void gone(uint32_t node, int32_t status, bool out_of_memory = false, bool ends_step = false) {
    b.report(node, node_rpc::StepGone{job, 0, step, status, out_of_memory, ends_step});
  }
  JobState recorded() const {
    JobState state = JobState::kPending;
    b.core.cluster().kept_records.for_each([&](uint32_t, const KeptRecord& r) {
      if (r.step && r.step->id == step) state = r.step->state;
    });
    return state;
  }
};

TEST(Step, ThatRanOutOfMemoryEndsOnItsOtherNodesWhereThatIsWanted) {
  for (bool whole : {false, true}) {
    TwoNodeStep s;
    s.gone(0, 9, true, whole);
    auto kills = s.b.orders<node_rpc::SignalJob>();
    ASSERT_EQ(kills.size(), whole ? 1u : 0u);
    if (whole) {
      EXPECT_TRUE(kills[0].has_step && kills[0].step == s.step && kills[0].signal == 9);
    }
    s.gone(1, 0);
    EXPECT_EQ(s.recorded(), JobState::kOutOfMemory);
    s.b.expect_replay_equal();
  }
}

TEST(Step, ThatRanIntoItsOwnLimitIsATimeout) {
  TwoNodeStep s(1);
  s.b.now += seconds(61);
  s.gone(0, 15);
  s.b.turn([&] { ASSERT_TRUE(s.b.core.run(Caller::root(), rpc::FinishStep{s.job, s.step, 15, false})); });
  EXPECT_EQ(s.recorded(), JobState::kTimeout);
  TwoNodeStep early(1);
  early.gone(0, 1 << 8);
  early.gone(1, 0);
  EXPECT_EQ(early.recorded(), JobState::kFailed);
}

// ---- blobs
TEST(Blobs, GoWithTheLastJobThatRefersToThem) {
  Bench b("MinJobAge=60\n");
  auto with = [](const char* script) {
    return [script](JobRequest& q) {
      q.script_hash = script;
      q.environment_hash = "env";
    };
  };
  JobId one = b.submit(with("a")), two = b.submit(with("b"));
  b.cancel(one);
  b.wait(minutes(2));
  EXPECT_FALSE(b.exists(one));
  EXPECT_EQ(b.core.take_unused_blobs(), std::vector<std::string>{"a"});
  EXPECT_TRUE(b.core.indexes().blob_used("env"));
  b.cancel(two);
  b.wait(minutes(2));
  EXPECT_EQ(b.core.take_unused_blobs().size(), 2u);
}

TEST(Blobs, OneThatIsAskedForAgainStays) {
  Bench b("MinJobAge=60\n");
  JobId one = b.submit([](JobRequest& q) { q.script_hash = "a"; });
  b.cancel(one);
  b.wait(minutes(2));
  b.submit([](JobRequest& q) { q.script_hash = "a"; });
  EXPECT_TRUE(b.core.take_unused_blobs().empty());
}

// muster-sim --seed 580: how the job ended is certain only with its cancellation, and whoever waited for that never heard of it.
TEST(JobLife, AJobThatWasToBeRequeuedAndIsCancelledInsteadHasEndedForOthersToo) {
  Bench b("RequeueExit=7\n");
  const JobId job = b.submit([](JobRequest& r) { r.requeue = TriState::kYes; });
  b.plan();
  b.started(job);
  const JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterok:" + std::to_string(job.value); });
  b.ends(job, 7 << 8, false);
  EXPECT_EQ(b.get(after).reason, Reason::kDependency) << "it may run again";
  b.cancel(job);
  EXPECT_EQ(b.get(after).reason, Reason::kDependencyNeverSatisfied);
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
