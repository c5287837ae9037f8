// Each promise of model/node_rpc.h, on the node's side.
#include "slurmd/core/node_core.h"

#include <gtest/gtest.h>

#include "model/without_job.h"
#include "slurmd/core/node_core_testing.h"

namespace muster::slurmd {
namespace {

using namespace node_rpc;
using test::Bench;
using test::of;

TEST(Batch, RunsOnceHoweverOftenItIsOrdered) {
  Bench b;
  b.order(Bench::launch(7));
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  b.order(Bench::launch(7));
  EXPECT_TRUE(b.effects.empty());
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  EXPECT_EQ(of<BatchStarted>(b.reports).size(), 1u);
  b.order(Bench::launch(7));
  EXPECT_TRUE(b.effects.empty());
  EXPECT_EQ(of<BatchStarted>(b.reports).size(), 1u);
  b.event(StepEnded{JobId(7), 0, kBatchStep, 3 << 8, true});
  auto done = of<BatchFinished>(b.reports);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].exit_status, 3 << 8);
  EXPECT_TRUE(done[0].gone);
  EXPECT_TRUE(done[0].out_of_memory);
  EXPECT_TRUE(of<ReleaseStep>(b.effects).empty()) << "its slurmstepd keeps the result until the controller has it";
  b.order(Bench::launch(7));
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  EXPECT_EQ(of<BatchFinished>(b.reports).size(), 1u);
  b.order(ForgetJobs{{JobId(7)}});
  EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
  EXPECT_EQ(of<DropJob>(b.effects).size(), 1u);
  EXPECT_EQ(b.core.jobs(), 0u);
}

// slurmstepd keeps a result until it is told to go: somebody has to tell it.
TEST(Steps, ThatEndAfterTheirJobAreReleased) {
  for (bool forgotten : {false, true}) {
    Bench b;
    b.event(StepAsked{JobId(7), 0, StepId(0)});
    b.order(Bench::terminate(7));
    b.event(StepsUnkillable{JobId(7), 0});
    EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
    if (forgotten) b.order(ForgetJobs{{JobId(7)}});
    b.event(StepFailed{JobId(7), 0, StepId(0), false, "too late"});
    EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
    b.event(StepEnded{JobId(7), 0, StepId(0), 0, false});
    EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
    EXPECT_EQ(b.core.jobs(), forgotten ? 0u : 1u) << "and it brings no job back";
  }
}

// A script that is not in the launch: it is found or fetched while the prolog runs, and started when both are there.
LaunchBatch by_hash(uint32_t job) {
  LaunchBatch l = Bench::launch(job);
  l.script_hash = "abc";
  return l;
}

TEST(Content, IsWaitedForBesideTheProlog) {
  Bench b({true, false});
  b.order(by_hash(7));
  ASSERT_EQ(of<FindContent>(b.effects).size(), 1u);
  EXPECT_EQ(of<FindContent>(b.effects)[0].hashes, std::vector<std::string>{"abc"});
  EXPECT_EQ(of<RunProlog>(b.effects).size(), 1u);
  b.event(PrologEnded{JobId(7), 0, ""});
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  b.order(by_hash(7));
  EXPECT_TRUE(b.effects.empty()) << "asked for already";
  b.event(ContentFound{JobId(7), 0});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  b.event(ContentFound{JobId(7), 0});
  EXPECT_TRUE(b.effects.empty());
}

TEST(Content, IsAskedForAgainInTheNextSession) {
  Bench b;
  b.order(by_hash(7));
  b.core.disconnected();
  b.order(Registered{2, {}});
  EXPECT_EQ(of<FindContent>(b.effects).size(), 1u);
  b.event(ContentFound{JobId(7), 0});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
}

TEST(Content, OfAJobThatEndsMeanwhileStartsNothing) {
  Bench b;
  b.order(by_hash(7));
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_TRUE(of<EndSteps>(b.effects).empty());
  b.event(ContentFound{JobId(7), 0});
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  b.order(by_hash(7));
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
}

TEST(Content, ThatIsLostBetweenIsLookedForAgain) {
  Bench b;
  b.order(by_hash(7));
  b.event(ContentFound{JobId(7), 0});
  for (int i = 0; i < 3; ++i) {
    auto started = of<StartBatch>(b.effects);
    ASSERT_EQ(started.size(), 1u);
    b.event(ContentLost{started[0].launch, "no such file"});
    EXPECT_EQ(of<FindContent>(b.effects).size(), 1u);
    EXPECT_TRUE(b.reports.empty());
    b.event(ContentFound{JobId(7), 0});
  }
  b.event(ContentLost{of<StartBatch>(b.effects)[0].launch, "no such file"});
  ASSERT_EQ(of<LaunchFailed>(b.reports).size(), 1u);
  EXPECT_TRUE(of<LaunchFailed>(b.reports)[0].node_fault);
}

TEST(Content, ThatDoesNotComeFailsTheLaunch) {
  for (bool prolog : {false, true}) {
    Bench b({prolog, false});
    b.order(by_hash(7));
    b.event(ContentMissing{JobId(7), 0, true, "No space left on device"});
    if (prolog) {
      EXPECT_TRUE(of<LaunchFailed>(b.reports).empty()) << "the prolog is running";
      b.event(PrologEnded{JobId(7), 0, ""});
    }
    ASSERT_EQ(of<LaunchFailed>(b.reports).size(), 1u) << prolog;
    EXPECT_TRUE(of<LaunchFailed>(b.reports)[0].node_fault);
    EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  }
}

TEST(Batch, EndIsToldAgainInEachSessionUntilForgotten) {
  Bench b;
  b.order(Bench::launch(7));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.core.disconnected();
  b.event(StepEnded{JobId(7), 0, kBatchStep, 0, false});
  EXPECT_TRUE(b.reports.empty());
  auto jobs = b.core.registration();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].state, NodeJobState::kGone);
  EXPECT_TRUE(jobs[0].batch);
  b.order(Registered{2, {}});
  EXPECT_EQ(of<BatchFinished>(b.reports).size(), 1u);
  b.order(Registered{3, {JobId(7)}});
  EXPECT_TRUE(b.reports.empty());
  EXPECT_TRUE(b.core.registration().empty());
}

TEST(Batch, LaterGenerationWaitsForTheEarlierToLeave) {
  Bench b;
  b.order(Bench::launch(7, 0));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.order(Bench::launch(7, 1));
  ASSERT_EQ(of<EndSteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<EndSteps>(b.effects)[0].kill_wait_seconds, 0u);
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  b.event(StepEnded{JobId(7), 0, kBatchStep, 9, false});
  ASSERT_EQ(of<StartBatch>(b.effects).size(), 1u);
  EXPECT_EQ(of<StartBatch>(b.effects)[0].launch->job.generation, 1u);
  b.order(Bench::launch(7, 0));
  EXPECT_TRUE(b.effects.empty()) << "an order of an earlier run does nothing";
}

TEST(Batch, LaunchFailureIsToldWithItsCauseAndRemembered) {
  Bench b;
  b.order(Bench::launch(7));
  b.event(StepFailed{JobId(7), 0, kBatchStep, false, "no such directory"});
  auto failed = of<LaunchFailed>(b.reports);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].text, "no such directory");
  b.order(Bench::launch(7));
  EXPECT_EQ(of<LaunchFailed>(b.reports).size(), 1u);
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
}

TEST(Terminate, UnknownJobIsGoneAtOnce) {
  Bench b;
  b.order(Bench::terminate(9, 2));
  auto gone = of<JobGone>(b.reports);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].generation, 2u);
  b.order(Bench::launch(9, 2));
  EXPECT_TRUE(of<StartBatch>(b.effects).empty()) << "a launch that comes after the end is late";
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

// slurmd was down while the job's slurmstepd was killed: its processes live on, and only its group knows them.
TEST(Terminate, WhatAnUnknownJobLeftIsEndedToo) {
  Bench b;
  TerminateJob t = Bench::terminate(7, 2);
  t.forget = true;
  b.order(t);
  const auto dropped = of<DropJob>(b.effects);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].job, JobId(7));
  EXPECT_EQ(dropped[0].generation, 2u);
}

// A step that srun asks for late, after the controller was told that nothing of the job is here.
TEST(Terminate, LateStepOfAnUnknownJobIsRefused) {
  Bench b;
  TerminateJob t = Bench::terminate(7);
  t.forget = true;
  b.order(t);
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
  EXPECT_TRUE(of<StartStep>(b.effects).empty());
}

// slurmd was restarted after PrepareJob: the prolog ran, no step came, and the epilog is due.
TEST(Terminate, AnUnknownJobHasItsEpilogOnce) {
  Bench b({true, true});
  TerminateJob t = Bench::terminate(7);
  t.forget = true;
  b.order(t);
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  EXPECT_TRUE(b.reports.empty());
  b.order(t);  // again: it still runs
  EXPECT_TRUE(of<RunEpilog>(b.effects).empty() && b.reports.empty());
  b.event(EpilogEnded{JobId(7), 0, "Epilog error"});
  ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports)[0].epilog_error, "Epilog error");
  EXPECT_EQ(b.core.jobs(), 0u);
  b.order(t);  // the answer was lost
  EXPECT_TRUE(of<RunEpilog>(b.effects).empty());
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

TEST(Terminate, EndsEverythingThenTellsOnce) {
  Bench b;
  b.order(Bench::launch(7));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  EXPECT_EQ(of<StartStep>(b.effects).size(), 1u);
  b.event(StepStarted{JobId(7), 0, StepId(0)});
  TerminateJob t = Bench::terminate(7);
  t.state = JobState::kTimeout;
  b.order(t);
  ASSERT_EQ(of<EndSteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<EndSteps>(b.effects)[0].state, JobState::kTimeout);
  EXPECT_EQ(of<EndSteps>(b.effects)[0].time, from_unix(1000));
  b.order(t);
  EXPECT_TRUE(b.effects.empty());
  t.kill_wait_seconds = 0;
  b.order(t);
  EXPECT_EQ(of<EndSteps>(b.effects).size(), 1u) << "a shorter wait counts";
  b.event(StepEnded{JobId(7), 0, kBatchStep, 15, false});
  EXPECT_TRUE(of<JobGone>(b.reports).empty());
  b.event(StepEnded{JobId(7), 0, StepId(0), 15, false});
  EXPECT_EQ(of<StepGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_TRUE(b.effects.empty());
}

TEST(Terminate, StepsLeftBehindByTheScriptAreWaitedFor) {
  Bench b;
  b.order(Bench::launch(7));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  b.event(StepEnded{JobId(7), 0, kBatchStep, 0, false});
  ASSERT_EQ(of<BatchFinished>(b.reports).size(), 1u);
  EXPECT_FALSE(of<BatchFinished>(b.reports)[0].gone);
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<EndSteps>(b.effects).size(), 1u);
  b.event(StepEnded{JobId(7), 0, StepId(0), 9, false});
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

TEST(Programs, PrologBeforeEpilogAfter) {
  Bench b({true, true});
  b.order(Bench::launch(7));
  EXPECT_EQ(of<RunProlog>(b.effects).size(), 1u);
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  EXPECT_TRUE(of<StartStep>(b.effects).empty());
  b.event(PrologEnded{JobId(7), 0, ""});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  EXPECT_EQ(of<StartStep>(b.effects).size(), 1u);
  b.event(StepEnded{JobId(7), 0, StepId(0), 0, false});
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.event(StepEnded{JobId(7), 0, kBatchStep, 0, false});
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  ASSERT_EQ(of<BatchFinished>(b.reports).size(), 1u);
  EXPECT_FALSE(of<BatchFinished>(b.reports)[0].gone);
  b.order(Bench::terminate(7));
  EXPECT_TRUE(b.effects.empty()) << "the epilog runs already";
  b.event(EpilogEnded{JobId(7), 0, "epilog failed"});
  ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports)[0].epilog_error, "epilog failed");
}

TEST(Programs, FailedPrologIsTheNodesFault) {
  Bench b({true, false});
  b.order(Bench::launch(7));
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  b.event(PrologEnded{JobId(7), 0, "prolog failed"});
  ASSERT_EQ(of<LaunchFailed>(b.reports).size(), 1u);
  EXPECT_TRUE(of<LaunchFailed>(b.reports)[0].node_fault);
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
}

TEST(Programs, EndDuringThePrologStartsNothing) {
  Bench b({true, true});
  b.order(Bench::launch(7));
  b.order(Bench::terminate(7));
  EXPECT_TRUE(b.reports.empty());
  b.event(PrologEnded{JobId(7), 0, ""});
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  b.event(EpilogEnded{JobId(7), 0, ""});
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

PrepareJob prepare(uint32_t job, uint32_t generation = 0) {
  PrepareJob p;
  p.job.job = JobId(job);
  p.job.generation = generation;
  return p;
}

TEST(Prepare, RunsThePrologOnceAndSaysSo) {
  Bench b(NodePrograms{true, true});
  b.order(prepare(7));
  EXPECT_EQ(of<RunProlog>(b.effects).size(), 1u);
  EXPECT_TRUE(b.reports.empty());
  b.order(prepare(7));  // again: it still runs
  EXPECT_TRUE(b.effects.empty() && b.reports.empty());
  b.event(PrologEnded{JobId(7), 0, ""});
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
  b.order(prepare(7));  // the answer was lost
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
  b.order(Bench::launch(7));
  EXPECT_TRUE(of<RunProlog>(b.effects).empty());
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  b.order(Bench::launch(7));
  EXPECT_TRUE(b.effects.empty());
}

TEST(Prepare, AStepOrScriptThatComesEarlyWaitsForTheProlog) {
  Bench b(NodePrograms{true, false});
  b.order(prepare(7));
  b.order(Bench::launch(7));
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  EXPECT_TRUE(b.effects.empty());
  b.event(PrologEnded{JobId(7), 0, ""});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  EXPECT_EQ(of<StartStep>(b.effects).size(), 1u);
}

TEST(Prepare, AFailureIsTheNodesFault) {
  Bench b(NodePrograms{true, false});
  b.order(prepare(7));
  b.event(PrologEnded{JobId(7), 0, "Prolog error: /p: exit code 1"});
  auto failed = of<LaunchFailed>(b.reports);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_TRUE(failed[0].node_fault);
}

TEST(Prepare, WithoutAPrologItIsDoneAtOnce) {
  Bench b;
  b.order(prepare(7));
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

TEST(Prepare, AnEarlierRunLeavesFirst) {
  Bench b;
  b.order(Bench::launch(7));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.order(prepare(7, 1));
  EXPECT_EQ(of<EndSteps>(b.effects).size(), 1u);
  EXPECT_TRUE(of<JobPrepared>(b.reports).empty());
  b.event(StepEnded{JobId(7), 0, kBatchStep, 9, false});
  b.order(prepare(7, 1));  // asked for again
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
}

TEST(Steps, OfAnAllocationComeAndGo) {
  Bench b;
  b.event(StepAsked{JobId(5), 0, StepId(0)});
  EXPECT_EQ(of<StartStep>(b.effects).size(), 1u);
  b.event(StepAsked{JobId(5), 0, StepId(0)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
  b.event(StepEnded{JobId(5), 0, StepId(0), 256, false});
  ASSERT_EQ(of<StepGone>(b.reports).size(), 1u);
  EXPECT_TRUE(of<ReleaseStep>(b.effects).empty()) << "nobody has its end yet";
  EXPECT_TRUE(of<JobGone>(b.reports).empty()) << "an allocation ends when the controller says so";
  b.order(Bench::terminate(5));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  b.event(StepAsked{JobId(5), 0, StepId(1)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
  b.order(ForgetJobs{{JobId(5)}});
  b.event(StepAsked{JobId(5), 0, StepId(1)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u) << "late steps of a forgotten job too";
}

TEST(Restart, StepsFoundAgainAreRegistered) {
  NodeCore core({true, false});
  core.on_event(StepStarted{JobId(7), 1, kBatchStep});
  core.on_event(StepStarted{JobId(7), 1, StepId(4)});
  core.on_event(StepEnded{JobId(8), 0, kBatchStep, 0, false});
  auto jobs = core.registration();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].steps, std::vector<StepId>{StepId(4)});
  EXPECT_TRUE(jobs[0].batch);
  EXPECT_EQ(jobs[0].state, NodeJobState::kRunning);
  EXPECT_EQ(jobs[1].state, NodeJobState::kGone);
  core.on_order(Registered{1, {}}, Time{});
  EXPECT_EQ(of<BatchFinished>(core.take_reports()).size(), 1u);
  core.on_order(Bench::launch(7, 1), Time{});
  EXPECT_TRUE(of<RunProlog>(core.take_effects()).empty());
}

TEST(Signals, ReachOnlyTheGenerationMeant) {
  Bench b;
  b.order(Bench::launch(7, 3));
  SignalJob s;
  s.job = JobId(7);
  s.generation = 2;
  s.signal = 10;
  b.order(s);
  EXPECT_TRUE(b.effects.empty());
  s.generation = 3;
  b.order(s);
  ASSERT_EQ(of<SignalSteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<SignalSteps>(b.effects)[0].order.signal, 10);
}

TEST(Orders, ALimitReachesAStepThatRunsHere) {
  Bench b;
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  b.order(LimitStep{JobId(7), 0, StepId(0), minutes(7)});
  EXPECT_EQ(of<LimitSteps>(b.effects).size(), 1u);
  b.order(LimitStep{JobId(7), 1, StepId(0), minutes(7)});
  EXPECT_TRUE(b.effects.empty());
  b.order(LimitStep{JobId(7), 0, StepId(1), minutes(7)});
  EXPECT_TRUE(b.effects.empty());
}

TEST(Orders, NoticesReachThisRunOfTheJobAlone) {
  Bench b;
  b.order(Bench::launch(7, 3));
  b.order(NotifyJob{JobId(7), 2, "late"});
  b.order(NotifyJob{JobId(8), 0, "not here"});
  EXPECT_TRUE(b.effects.empty());
  b.order(NotifyJob{JobId(7), 3, "hello"});
  ASSERT_EQ(of<NotifySteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<NotifySteps>(b.effects)[0].text, "hello");
}

TEST(Orders, ALimitThatComesEarlyHoldsWhenTheStepIsUp) {
  Bench b({true, false});
  b.event(StepAsked{JobId(7), 0, StepId(0)});  // waits for the prolog
  b.order(LimitStep{JobId(7), 0, StepId(0), minutes(7)});
  EXPECT_TRUE(b.effects.empty());
  b.event(PrologEnded{JobId(7), 0, ""});
  b.event(StepStarted{JobId(7), 0, StepId(0)});
  ASSERT_EQ(of<LimitSteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<LimitSteps>(b.effects)[0].order.limit, std::optional<Duration>(minutes(7)));
}

TEST(Orders, RebootAndLoggingArePassedOn) {
  Bench b;
  b.order(RebootNode{"firmware"});
  ASSERT_EQ(of<Reboot>(b.effects).size(), 1u);
  EXPECT_EQ(of<Reboot>(b.effects)[0].reason, "firmware");
  b.order(RebootNode{"firmware", {}, {}, from_unix(7)});
  EXPECT_EQ(of<Reboot>(b.effects).size(), 1u);
  b.order(RebootNode{"firmware", {}, {}, from_unix(7)});
  EXPECT_EQ(of<Reboot>(b.effects).size(), 0u) << "slurmctld came back and said it again";
  b.event(RebootFailed{});
  b.order(RebootNode{"firmware", {}, {}, from_unix(7)});
  EXPECT_EQ(of<Reboot>(b.effects).size(), 1u);
  b.order(SetLogging{"debug", {"+gres"}});
  ASSERT_EQ(of<ChangeLogging>(b.effects).size(), 1u);
  EXPECT_EQ(of<ChangeLogging>(b.effects)[0].order.level, "debug");
}

TEST(Unkillable, TheJobLetsGoAndTheNodeIsDrained) {
  Bench b({false, true});
  b.order(Bench::launch(7));
  b.event(StepStarted{JobId(7), 0, kBatchStep});
  b.event(StepStarted{JobId(7), 0, StepId(0)});
  b.event(StepsUnkillable{JobId(7), 0});  // it was not told to end
  EXPECT_TRUE(b.effects.empty() && b.reports.empty());
  b.order(Bench::terminate(7));
  EXPECT_EQ(b.core.steps_of(JobId(7)), (std::vector<StepId>{StepId(0), kBatchStep}));
  b.event(StepsUnkillable{JobId(7), 0, "cat (812) of step 7.0 cannot be interrupted"});
  EXPECT_EQ(of<StepGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  b.event(EpilogEnded{JobId(7), 0, {}});
  auto gone = of<JobGone>(b.reports);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].epilog_error, "Kill task failed: cat (812) of step 7.0 cannot be interrupted");
  b.event(StepEnded{JobId(7), 0, StepId(0), 9, false});  // at last
  EXPECT_TRUE(of<StepGone>(b.reports).empty());
}

// ---- srun --no-allocate
TEST(WithoutJob, NobodyIsToldAndNothingStays) {
  constexpr JobId kRun = number_without_job(5);
  Bench b({.prolog = true, .epilog = true});
  b.event(StepAsked{kRun, 0, StepId(0)});
  ASSERT_EQ(of<StartStep>(b.effects).size(), 1u) << "no prolog";
  b.event(StepStarted{kRun, 0, StepId(0)});
  EXPECT_TRUE(b.core.registration().empty());
  b.event(StepEnded{kRun, 0, StepId(0), 0, false});
  EXPECT_TRUE(b.reports.empty());
  EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
  EXPECT_EQ(of<DropJob>(b.effects).size(), 1u);
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 0u);
  EXPECT_EQ(b.core.jobs(), 0u);
  b.event(StepAsked{kRun, 0, StepId(0)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u) << "a credential is good for one run";
}

TEST(WithoutJob, EndsWithALaunchThatFailed) {
  constexpr JobId kRun = number_without_job(6);
  Bench b;
  b.event(StepAsked{kRun, 0, StepId(0)});
  b.event(StepFailed{kRun, 0, StepId(0), false, "no such directory"});
  EXPECT_TRUE(b.reports.empty());
  EXPECT_EQ(b.core.jobs(), 0u);
}

TEST(WithoutJob, OneThatOutlivedSlurmdIsForgottenAtItsEnd) {
  constexpr JobId kRun = number_without_job(7);
  Bench b({.prolog = false, .epilog = true});
  b.event(StepStarted{kRun, 0, StepId(0)});
  b.order(Registered{2, {}});
  EXPECT_TRUE(b.core.registration().empty());
  b.event(StepEnded{kRun, 0, StepId(0), 9, false});
  EXPECT_TRUE(b.reports.empty());
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 0u);
  EXPECT_EQ(b.core.jobs(), 0u);
}

}  // namespace
}  // namespace muster::slurmd
