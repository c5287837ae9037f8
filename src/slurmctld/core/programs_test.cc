// What is run around a job as the core sees it: PrologSlurmctld, EpilogSlurmctld, PrologFlags; and CompleteWait.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const char* const kBoth = "PrologSlurmctld=/p\nEpilogSlurmctld=/e\n";

// "prolog 1.0", "epilog 1.0": what this turn asks the world to run; "abandon 1.0".
std::vector<std::string> asked(const Bench& b) {
  std::vector<std::string> out;
  auto name = [](JobId id, uint32_t generation) { return std::to_string(id.value) + "." + std::to_string(generation); };
  for (const Effect& e : b.effects) {
    if (auto* r = std::get_if<RunJobProgram>(&e)) out.push_back((r->epilog ? "epilog " : "prolog ") + name(r->job.id, r->job.restarts));
    if (auto* a = std::get_if<AbandonProlog>(&e)) out.push_back("abandon " + name(a->job, a->generation));
  }
  return out;
}
using Asked = std::vector<std::string>;

void over(Bench& b, JobId job, bool epilog, const std::string& error = "", uint32_t generation = 0) {
  b.turn([&] { b.core.program_ended({job, generation, epilog, error}); });
}

struct Started {
  Bench b;
  JobId job;
  explicit Started(const std::string& conf, const std::function<void(JobRequest&)>& change = {}) : b(conf) {
    job = b.submit(change);
    EXPECT_EQ(b.plan(), 1u);
  }
};

TEST(PrologSlurmctld, NothingIsLaunchedBeforeItsEnd) {
  Started s(kBoth);
  EXPECT_EQ(asked(s.b), Asked{"prolog 1.0"});
  EXPECT_EQ(s.b.state(s.job), JobState::kRunning);
  EXPECT_TRUE(s.b.get(s.job).flags & kJobConfiguring);
  EXPECT_EQ(s.b.get(s.job).reason, Reason::kProlog);
  EXPECT_TRUE(s.b.orders<node_rpc::LaunchBatch>().empty());
  s.b.wait(minutes(11));  // its limit is 10 minutes, and its time has not begun
  EXPECT_EQ(s.b.state(s.job), JobState::kRunning);
  EXPECT_EQ(asked(s.b), Asked{"prolog 1.0"});  // said again: whoever runs it knows
  over(s.b, s.job, false);
  EXPECT_FALSE(s.b.get(s.job).flags & kJobConfiguring);
  EXPECT_EQ(s.b.get(s.job).reason, Reason::kNone);
  EXPECT_EQ(s.b.get(s.job).ends, s.b.now + minutes(10));
  EXPECT_EQ(s.b.orders<node_rpc::LaunchBatch>().size(), 1u);
  s.b.wait(seconds(20));
  EXPECT_EQ(asked(s.b), Asked{});
  s.b.expect_replay_equal();
}

TEST(PrologSlurmctld, TheWarningComesBeforeTheEndThatItLeaves) {
  Started s(kBoth, [](JobRequest& r) {
    r.time_limit_min = 1;
    r.warn.signal = 10;
    r.warn.seconds_before_end = 50;
  });
  s.b.wait(seconds(14));  // the prolog still runs, and there is nothing that could be warned
  EXPECT_TRUE(s.b.orders<node_rpc::SignalJob>().empty());
  over(s.b, s.job, false);
  s.b.started(s.job);
  EXPECT_TRUE(s.b.orders<node_rpc::SignalJob>().empty());
  s.b.wait(seconds(10));
  EXPECT_EQ(s.b.orders<node_rpc::SignalJob>().size(), 1u);
}

TEST(PrologSlurmctld, IsAskedForAgainAfterARestart) {
  Started s(kBoth);
  Core other(s.b.settings);
  for (const Event& e : s.b.log) other.replay(e);
  s.b.effects = other.take_effects(s.b.now);
  EXPECT_EQ(asked(s.b), Asked{"prolog 1.0"});
}

TEST(PrologSlurmctld, AFailureQueuesABatchJobAgainAndEndsAnAllocation) {
  Started s("PrologSlurmctld=/p\n");
  over(s.b, s.job, false, "/p: exit code 3");
  EXPECT_EQ(s.b.state(s.job), JobState::kFailed);
  EXPECT_EQ(s.b.get(s.job).detail ? *s.b.get(s.job).detail : "", "PrologSlurmctld: /p: exit code 3");
  s.b.gone(s.job, s.b.host(s.job));
  EXPECT_EQ(s.b.state(s.job), JobState::kPending);
  EXPECT_GT(s.b.get(s.job).priority, 0u);

  Started a("PrologSlurmctld=/p\n", [](JobRequest& r) { r.kind = JobKind::kAllocation; });
  EXPECT_FALSE(a.b.get(a.job).launched);
  over(a.b, a.job, false, "/p: exit code 3");
  EXPECT_EQ(a.b.state(a.job), JobState::kCancelled);
  a.b.expect_replay_equal();
}

TEST(PrologSlurmctld, OneThatAlwaysFailsHoldsTheJobInTheEnd) {
  Started s("PrologSlurmctld=/p\nMaxBatchRequeue=1\n");
  for (uint32_t generation : {0u, 1u}) {
    if (generation > 0) s.b.plan();
    over(s.b, s.job, false, "/p: exit code 1", generation);
    s.b.gone(s.job, s.b.host(s.job));
  }
  EXPECT_EQ(s.b.state(s.job), JobState::kPending);
  EXPECT_EQ(s.b.get(s.job).priority, 0u);
  EXPECT_EQ(s.b.get(s.job).reason, Reason::kJobHoldMaxRequeue);
}

TEST(PrologSlurmctld, OfACancelledJobIsAbandoned) {
  Started s(kBoth);
  s.b.cancel(s.job);
  EXPECT_EQ(asked(s.b), (Asked{"abandon 1.0", "epilog 1.0"}));
  over(s.b, s.job, false, "/p: exit code 1");  // too late
  EXPECT_EQ(s.b.state(s.job), JobState::kCancelled);
}

TEST(PrologSlurmctld, AllocationsAreReadyAfterIt) {
  Started s(kBoth, [](JobRequest& r) { r.kind = JobKind::kAllocation; });
  EXPECT_FALSE(s.b.get(s.job).launched);
  over(s.b, s.job, false);
  EXPECT_TRUE(s.b.get(s.job).launched);
}

// COMPLETING includes it: the record stays and the job is not queued again before.
TEST(EpilogSlurmctld, KeepsTheJobCompleting) {
  Started s("EpilogSlurmctld=/e\nRequeueExit=7\n");
  s.b.started(s.job);
  s.b.ends(s.job, 7 << 8);
  EXPECT_EQ(asked(s.b), Asked{"epilog 1.0"});
  EXPECT_TRUE(s.b.get(s.job).flags & kJobCompleting);
  EXPECT_EQ(s.b.node(s.b.host(s.job)).jobs_running + s.b.node(s.b.host(s.job)).jobs_completing, 0u);  // its node is free
  s.b.wait(seconds(1000));                                                                            // MinJobAge=100
  ASSERT_TRUE(s.b.exists(s.job));
  EXPECT_EQ(s.b.state(s.job), JobState::kFailed);
  over(s.b, s.job, true, "/e: exit code 1");  // is logged, and that is all
  EXPECT_EQ(s.b.state(s.job), JobState::kPending);
  EXPECT_FALSE(s.b.get(s.job).flags & kJobCompleting);
  s.b.expect_replay_equal();
}

// guides/faq: an EpilogSlurmctld that looks at the exit code runs "scontrol requeuehold state=SpecialExit" of its job.
TEST(EpilogSlurmctld, CanQueueItsJobAgain) {
  for (bool hold : {false, true}) {
    Started s("EpilogSlurmctld=/e\n");
    s.b.started(s.job);
    s.b.ends(s.job, 8 << 8);
    rpc::ControlJobs c;
    c.action = hold ? rpc::JobAction::kRequeueHold : rpc::JobAction::kRequeue;
    c.special_exit = hold;
    c.jobs.emplace_back().job = s.job;
    s.b.turn([&] { EXPECT_TRUE(s.b.core.run(Caller::root(), c)->errors.empty()); });
    EXPECT_EQ(s.b.state(s.job), JobState::kFailed);  // its epilog runs
    over(s.b, s.job, true);
    EXPECT_EQ(s.b.state(s.job), JobState::kPending);
    EXPECT_EQ(s.b.get(s.job).priority == 0, hold);
    EXPECT_EQ((s.b.get(s.job).flags & kJobSpecialExit) != 0, hold);
    s.b.expect_replay_equal();
  }
}

TEST(EpilogSlurmctld, IsForJobsThatHadNodes) {
  Bench b(kBoth);
  JobId waiting = b.submit();
  b.cancel(waiting);
  EXPECT_EQ(asked(b), Asked{});
  EXPECT_FALSE(b.get(waiting).flags & kJobCompleting);
}

// ---- PrologFlags
void prepared(Bench& b, JobId job, size_t index) {
  b.report(b.get(job).allocation->nodes[index].node.value, node_rpc::JobPrepared{job, b.get(job).restarts});
}
void two_nodes(JobRequest& r) { r.min_nodes = r.max_nodes = 2; }
void allocation(JobRequest& r) {
  two_nodes(r);
  r.kind = JobKind::kAllocation;
}

TEST(PrologFlags, WithoutThemNodesPrepareThemselvesWhenAStepComes) {
  Started s("", allocation);
  EXPECT_TRUE(s.b.orders<node_rpc::PrepareJob>().empty());
  EXPECT_TRUE(s.b.get(s.job).launched);
}

TEST(PrologFlags, AllocPreparesEachNodeAndTheScriptWaitsForItsOwn) {
  Started s("PrologFlags=Alloc\n", two_nodes);
  ASSERT_EQ(s.b.orders<node_rpc::PrepareJob>().size(), 1u);
  EXPECT_EQ(s.b.orders<node_rpc::PrepareJob>()[0].job.node_index, 1u);
  EXPECT_EQ(s.b.orders<node_rpc::LaunchBatch>().size(), 1u);  // the node runs the prolog before it
  EXPECT_FALSE(s.b.get(s.job).flags & kJobConfiguring);
  s.b.wait(seconds(20));
  EXPECT_EQ(s.b.orders<node_rpc::PrepareJob>().size(), 1u);  // nobody answered
  prepared(s.b, s.job, 1);
  s.b.wait(seconds(20));
  EXPECT_TRUE(s.b.orders<node_rpc::PrepareJob>().empty());
  s.b.expect_replay_equal();
}

TEST(PrologFlags, APreparingNodeIsToldWhatProgramsNeedAndNoMore) {
  Started s("PrologFlags=Alloc\n", [](JobRequest& r) {
    allocation(r);
    r.argv = {"salloc"};
    r.submit_line = "salloc -N2";
    r.user_name = "ann";
  });
  auto prepares = s.b.orders<node_rpc::PrepareJob>();
  ASSERT_EQ(prepares.size(), 2u);
  for (uint32_t i : {0u, 1u}) {
    const node_rpc::JobOnNode& told = prepares[i].job;
    EXPECT_EQ(told.node_index, i);
    EXPECT_EQ(told.share.node, s.b.get(s.job).allocation->nodes[i].node);
    EXPECT_EQ(told.request->user_name, "ann");
    EXPECT_EQ(told.node_list, "n[0-1]");
    EXPECT_TRUE(told.request->argv.empty() && told.request->submit_line.empty());
  }
  s.b.cancel(s.job);
  auto ends = s.b.orders<node_rpc::TerminateJob>();
  ASSERT_EQ(ends.size(), 2u);
  for (uint32_t i : {0u, 1u}) {  // as slurmd may have been restarted, and the epilog has to know
    ASSERT_TRUE(ends[i].about);
    EXPECT_EQ(ends[i].about->node_index, i);
    EXPECT_EQ(ends[i].about->request->user_name, "ann");
  }
}

TEST(PrologFlags, ALargeJobIsPreparedInParts) {
  Job j;
  j.id = JobId(1);
  j.state = JobState::kRunning;
  auto request = std::make_shared<RequestBody>();
  request->kind = JobKind::kAllocation;
  j.request = std::move(request);
  auto allocation = std::make_shared<Allocation>();
  allocation->nodes.resize(100);
  JobRun& run = j.run.edit();
  run.preparing = run.releasing = Bitmap(100);
  for (uint32_t i = 0; i < 100; ++i) {
    allocation->nodes[i].node = NodeId(i);
    run.preparing.set(i);
  }
  j.allocation = std::move(allocation);
  Indexes x(seconds(100));
  x.add(j);
  Time now = from_unix(1000);
  for (int round = 0; round < 2; ++round, now += seconds(15)) {  // the second time because nobody answered
    EXPECT_EQ(x.take_due(now, seconds(15)).size(), Indexes::kMostPrepares);
    EXPECT_TRUE(x.has_due());  // and so a next turn follows at once
    EXPECT_EQ(x.take_due(now, seconds(15)).size(), 100 - Indexes::kMostPrepares);
    EXPECT_FALSE(x.has_due());
  }
}

TEST(PrologFlags, DeferBatchWaitsForAllNodes) {
  Started s("PrologFlags=DeferBatch\n", two_nodes);
  EXPECT_EQ(s.b.orders<node_rpc::PrepareJob>().size(), 2u);
  EXPECT_TRUE(s.b.orders<node_rpc::LaunchBatch>().empty());
  EXPECT_EQ(s.b.get(s.job).reason, Reason::kProlog);
  prepared(s.b, s.job, 0);
  EXPECT_TRUE(s.b.orders<node_rpc::LaunchBatch>().empty());
  EXPECT_TRUE(s.b.get(s.job).flags & kJobConfiguring);
  prepared(s.b, s.job, 1);
  EXPECT_EQ(s.b.orders<node_rpc::LaunchBatch>().size(), 1u);
  EXPECT_EQ(s.b.get(s.job).reason, Reason::kNone);
  s.b.expect_replay_equal();
}

TEST(PrologFlags, AnAllocationIsReadyWhenItsNodesAre) {
  Started s("PrologFlags=Alloc\n", allocation);
  EXPECT_EQ(s.b.orders<node_rpc::PrepareJob>().size(), 2u);
  EXPECT_FALSE(s.b.get(s.job).launched);
  prepared(s.b, s.job, 1);
  EXPECT_TRUE(s.b.get(s.job).flags & kJobConfiguring);
  prepared(s.b, s.job, 0);
  EXPECT_FALSE(s.b.get(s.job).flags & kJobConfiguring);
  EXPECT_TRUE(s.b.get(s.job).launched);

  Started n("PrologFlags=NoHold\n", allocation);
  EXPECT_EQ(n.b.orders<node_rpc::PrepareJob>().size(), 2u);
  EXPECT_TRUE(n.b.get(n.job).launched);
}

TEST(PrologFlags, ANodeThatDiesInItsPrologIsNotWaitedFor) {
  Started s("PrologFlags=Alloc\n", [](JobRequest& r) {
    allocation(r);
    r.no_kill = true;
  });
  prepared(s.b, s.job, 0);
  s.b.set_node("n1", "down");
  EXPECT_EQ(s.b.state(s.job), JobState::kRunning);
  EXPECT_FALSE(s.b.get(s.job).flags & kJobConfiguring);
  s.b.wait(minutes(10));
  EXPECT_EQ(s.b.state(s.job), JobState::kTimeout);
  s.b.expect_replay_equal();
}

TEST(PrologFlags, ANodeThatDiesInItsPrologDidBoot) {
  Started s("PrologFlags=Alloc\n", allocation);
  s.b.set_node("n1", "down");
  EXPECT_EQ(s.b.state(s.job), JobState::kNodeFail);
}

TEST(PrologFlags, ComeAfterPrologSlurmctld) {
  Started s("PrologFlags=DeferBatch\nPrologSlurmctld=/p\n");
  EXPECT_TRUE(s.b.orders<node_rpc::PrepareJob>().empty());
  over(s.b, s.job, false);
  EXPECT_EQ(s.b.orders<node_rpc::PrepareJob>().size(), 1u);
  EXPECT_TRUE(s.b.orders<node_rpc::LaunchBatch>().empty());
  prepared(s.b, s.job, 0);
  EXPECT_EQ(s.b.orders<node_rpc::LaunchBatch>().size(), 1u);
}

TEST(PrologFlags, ForceRequeueOnFail) {
  for (bool forced : {false, true}) {
    Started s(forced ? "PrologFlags=ForceRequeueOnFail\n" : "", [](JobRequest& r) { r.requeue = TriState::kNo; });
    const uint32_t node = s.b.host(s.job);
    s.b.report(node, node_rpc::LaunchFailed{s.job, 0, true, "Prolog error: /p: exit code 1"});
    s.b.gone(s.job, node);
    EXPECT_EQ(s.b.state(s.job), forced ? JobState::kPending : JobState::kFailed);
    EXPECT_TRUE(s.b.node(node).flags & kNodeDrain);
  }
}

// ---- CompleteWait
struct Completing {
  Bench b;
  JobId first, next;
  explicit Completing(const std::string& conf) : b(conf) {
    first = b.submit();
    b.plan();
    b.started(first);
    b.ends(first, 0, false);  // its node is not rid of it yet
    next = b.submit();
  }
};

TEST(CompleteWait, NothingStartsWhileAJobIsCompleting) {
  Completing c("CompleteWait=32\n");
  EXPECT_EQ(c.b.plan(), 0u);
  c.b.wait(seconds(31));
  EXPECT_EQ(c.b.plan(), 0u);
  c.b.wait(seconds(1));  // long enough
  EXPECT_EQ(c.b.plan(), 1u);
  c.b.expect_replay_equal();
}

TEST(CompleteWait, EndsWithTheJobsEnd) {
  Completing c("CompleteWait=32\n");
  c.b.gone(c.first, c.b.host(c.first));
  EXPECT_EQ(c.b.plan(), 1u);
}

TEST(CompleteWait, DoesNotWaitForAClockThatSteppedBack) {
  Completing c("CompleteWait=32\n");
  c.b.now -= minutes(60);
  JobId earlier = c.b.submit();  // eligible by the clock as it is now
  c.b.plan();
  EXPECT_EQ(c.b.state(earlier), JobState::kRunning);
}

TEST(CompleteWait, IsOffAsARule) {
  Completing c("");
  EXPECT_EQ(c.b.plan(), 1u);
}

TEST(CompleteWait, CanBeForPartitionsThatShareNodes) {
  Bench b("CompleteWait=32\nSchedulerParameters=reduce_completing_frag\n"
          "PartitionName=own Nodes=n0\nPartitionName=overlapping Nodes=n[0-1]\nPartitionName=apart Nodes=n[2-3]\n");
  auto in = [](const char* name) { return [name](JobRequest& r) { r.partitions = {name}; }; };
  JobId first = b.submit(in("own"));
  b.plan();
  b.started(first);
  b.ends(first, 0, false);
  JobId same = b.submit(in("own")), apart = b.submit(in("apart")), overlapping = b.submit(in("overlapping"));
  b.plan();
  EXPECT_EQ(b.state(same), JobState::kPending);
  EXPECT_EQ(b.state(overlapping), JobState::kPending);
  EXPECT_EQ(b.state(apart), JobState::kRunning);
}

}  // namespace
}  // namespace muster::slurmctld
