// The life of running jobs: suspend as an obligation, warnings and mail, deadlines, array limits after a requeue, launch
// failures, blobs.
#include "model/mail.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

std::vector<std::string> subjects(const Bench& b) {   // "7 Began": enough to tell mails apart
  std::vector<std::string> out;
  for (const Effect& e : b.effects)
    if (auto* m = std::get_if<SendMail>(&e)) out.push_back(std::to_string(m->job.id.value) + (m->array ? " array " : " ") + format_mail_type(m->what));
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
  EXPECT_EQ(r.b.get(r.job).settling.count(), 1u);
  r.b.wait(seconds(20));   // the other one has said nothing
  auto again = r.b.orders<node_rpc::SuspendJob>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].suspend);
  r.b.report(r.b.get(r.job).allocation->nodes[1].node.value, node_rpc::JobSettled{r.job, 0, true});
  EXPECT_TRUE(r.b.get(r.job).settling.none());
  r.b.wait(seconds(60));
  EXPECT_TRUE(r.b.orders<node_rpc::SuspendJob>().empty());
  r.b.expect_replay_equal();
}

TEST(Suspend, AConfirmationOfTheOppositeIsNone) {
  Running r;
  uint32_t node = r.b.host(r.job);
  r.b.control(rpc::JobAction::kSuspend, r.job);
  r.b.control(rpc::JobAction::kResume, r.job);
  r.b.report(node, node_rpc::JobSettled{r.job, 0, true});   // late
  EXPECT_EQ(r.b.get(r.job).settling.count(), 1u);
  r.b.wait(seconds(20));
  ASSERT_EQ(r.b.orders<node_rpc::SuspendJob>().size(), 1u);
  EXPECT_FALSE(r.b.orders<node_rpc::SuspendJob>()[0].suspend);
  r.b.report(node, node_rpc::JobSettled{r.job, 0, false});
  EXPECT_TRUE(r.b.get(r.job).settling.none());
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
  b.wait(minutes(5));   // ten minutes are just left
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

TEST(Deadline, NeedsALimitAndTheFuture) {
  Bench b;
  auto refused = [&](const std::function<void(JobRequest&)>& change) {
    JobRequest q = Bench::request(change);
    Result<rpc::JobSubmitted> r;
    b.turn([&] { r = b.core.submit(Caller{q.uid, {}, {}, {}}, q); });
    return r ? Errc::kOk : r.error().code;
  };
  EXPECT_EQ(refused([&](JobRequest& q) { q.deadline = b.now - seconds(1); }), Errc::kInvalidTimeLimit);
  EXPECT_EQ(refused([&](JobRequest& q) {
              q.deadline = b.now + minutes(20);
              q.time_limit_min = kUnlimited32;
            }),
            Errc::kInvalidTimeLimit);
  EXPECT_EQ(refused([&](JobRequest& q) { q.time_min_min = 11; }), Errc::kInvalidTimeMin);
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
  EXPECT_EQ(b.plan(), 1u);   // one of the three, not two
  b.expect_replay_equal();
}

TEST(Array, NoMoreTasksThanMaxArrayTasks) {
  Bench b("SchedulerParameters=max_array_tasks=3\n");
  auto submit = [&](const char* array) {
    JobRequest q = b.request();
    q.array = array;
    Result<rpc::JobSubmitted> r = fail(Errc::kError);
    b.turn([&] { r = b.core.submit(Caller{q.uid, q.gid, {}, {}}, q); });
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

TEST(End, ANodeThatIsLostDoesNotEndAJobThatWantsItSo) {
  for (bool no_kill : {false, true}) {
    Running r([&](JobRequest& q) {
      q.min_nodes = q.max_nodes = 2;
      q.no_kill = no_kill;
      q.requeue = TriState::kNo;
    });
    uint32_t second = r.b.get(r.job).allocation->nodes[1].node.value;
    r.b.set_node("n" + std::to_string(second), "DOWN");
    EXPECT_EQ(r.b.state(r.job), no_kill ? JobState::kRunning : JobState::kNodeFail);
  }
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

}  // namespace
}  // namespace muster::slurmctld
