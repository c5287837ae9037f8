// The external step of a contained job, on the node's side.
#include <gtest/gtest.h>

#include "slurmd/core/node_core.h"
#include "slurmd/core/node_core_testing.h"

namespace muster::slurmd {
namespace {

using namespace node_rpc;
using test::Bench;
using test::of;

constexpr JobId kJob{7};

LaunchBatch contained(uint32_t generation = 0) {
  LaunchBatch launch = Bench::launch(kJob.value, generation);
  launch.job.contained = true;
  return launch;
}
PrepareJob prepare() { return {contained().job}; }
StepStarted started(StepId step) { return {kJob, 0, step}; }
StepEnded ended(StepId step, StepUsagePtr usage = nullptr) { return {kJob, 0, step, 9, false, false, std::move(usage)}; }

TEST(External, NothingOfAJobThatIsNotContainedIsOther) {
  Bench b({true, true, true});
  b.order(Bench::launch(7));
  ASSERT_EQ(of<RunProlog>(b.effects).size(), 1u);
  EXPECT_FALSE(of<RunProlog>(b.effects)[0].in_job);
  b.event(PrologEnded{kJob, 0, ""});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  EXPECT_EQ(b.effects.size(), 1u);
}

TEST(External, ComesAfterThePrologAndBeforeTheScript) {
  Bench b({true, false});
  b.order(contained());
  EXPECT_TRUE(of<StartExternal>(b.effects).empty());
  b.event(PrologEnded{kJob, 0, ""});
  ASSERT_EQ(of<StartExternal>(b.effects).size(), 1u);
  EXPECT_EQ(of<StartExternal>(b.effects)[0].job->job, kJob);
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  b.event(started(kExternStep));
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  b.event(started(kExternStep));
  EXPECT_TRUE(b.effects.empty());
}

TEST(External, AnAllocationIsPreparedWhenItIsThere) {
  Bench b;
  b.order(prepare());
  EXPECT_EQ(of<StartExternal>(b.effects).size(), 1u);
  EXPECT_TRUE(b.reports.empty());
  b.order(prepare());
  EXPECT_TRUE(b.effects.empty() && b.reports.empty()) << "it is on its way";
  b.event(started(kExternStep));
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
}

// What a user does to it before it is the user's is no fault of the node, nor possible.
TEST(External, IsTheUsersWhenPrologAndStartAreOver) {
  Bench b({true, true, true});
  b.order(contained());
  EXPECT_FALSE(b.core.is_external_open(kJob)) << "not yet up";
  b.event(started(kExternStep));
  EXPECT_EQ(of<RunProlog>(b.effects).size(), 1u) << "in its group";
  EXPECT_FALSE(b.core.is_external_open(kJob)) << "the prolog runs in it";
  b.event(PrologEnded{kJob, 0, ""});
  EXPECT_TRUE(b.core.is_external_open(kJob));
  b.event(started(kBatchStep));
  b.event(ended(kBatchStep));
  EXPECT_FALSE(b.core.is_external_open(kJob)) << "the epilog runs in it";
}

TEST(External, WhoseUserIsNotKnownIsNoFaultOfTheNode) {
  for (const bool fault : {false, true}) {
    Bench b;
    b.order(contained());
    b.event(StepFailed{kJob, 0, kExternStep, fault, "no such user"});
    ASSERT_EQ(of<LaunchFailed>(b.reports).size(), 1u);
    EXPECT_EQ(of<LaunchFailed>(b.reports)[0].node_fault, fault);
  }
}

TEST(External, EndsWithTheLastOfItsJobAndTellsItsUse) {
  Bench b;
  const auto usage = std::make_shared<const StepUsage>();
  b.order(contained());
  b.event(started(kExternStep));
  b.event(started(kBatchStep));
  b.event(StepAsked{kJob, 0, StepId(0)});
  b.event(ended(kBatchStep));
  EXPECT_TRUE(of<EndExternal>(b.effects).empty()) << "a step runs";
  ASSERT_EQ(of<BatchFinished>(b.reports).size(), 1u);
  EXPECT_FALSE(of<BatchFinished>(b.reports)[0].gone);
  b.event(ended(StepId(0)));
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  EXPECT_TRUE(of<JobGone>(b.reports).empty());
  b.event(StepAsked{kJob, 0, StepId(1)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
  b.event(ended(kExternStep, usage));
  ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports)[0].external, usage);
  EXPECT_TRUE(of<ReleaseStep>(b.effects).empty()) << "its slurmstepd keeps the use until the job is forgotten";
  b.order(Registered{2, {}});
  ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports)[0].external, usage);
  b.order(ForgetJobs{{kJob}});
  EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 3u) << "script, step and this";
  EXPECT_EQ(b.core.jobs(), 0u);
}

TEST(External, IsEndedByItsJobsEndAndThenTheEpilogRuns) {
  Bench b({false, true});
  b.order(contained());
  b.event(started(kExternStep));
  b.event(started(kBatchStep));
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<EndSteps>(b.effects).size(), 1u);
  EXPECT_TRUE(of<EndExternal>(b.effects).empty());
  b.event(ended(kBatchStep));
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  EXPECT_TRUE(of<RunEpilog>(b.effects).empty());
  b.order(Bench::terminate(7));
  EXPECT_TRUE(b.effects.empty()) << "told again";
  b.event(ended(kExternStep));
  ASSERT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  EXPECT_FALSE(of<RunEpilog>(b.effects)[0].in_job);
  b.event(EpilogEnded{kJob, 0, ""});
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<BatchFinished>(b.reports).size(), 1u);
}

TEST(External, OfAnAllocationWithoutAStepEndsToo) {
  Bench b;
  b.order(prepare());
  b.event(started(kExternStep));
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  EXPECT_EQ(b.core.steps_of(kJob), std::vector<StepId>{kExternStep});
  b.event(ended(kExternStep));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

// PrologFlags=RunInJob: the programs run among its processes, so it is there before the first and after the last.
TEST(External, HoldsPrologAndEpilogOfRunInJob) {
  Bench b({true, true, true});
  b.order(contained());
  EXPECT_EQ(of<StartExternal>(b.effects).size(), 1u);
  EXPECT_TRUE(of<RunProlog>(b.effects).empty());
  b.event(started(kExternStep));
  ASSERT_EQ(of<RunProlog>(b.effects).size(), 1u);
  EXPECT_TRUE(of<RunProlog>(b.effects)[0].in_job);
  b.event(PrologEnded{kJob, 0, ""});
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);
  b.event(started(kBatchStep));
  b.event(ended(kBatchStep));
  ASSERT_EQ(of<RunEpilog>(b.effects).size(), 1u);
  EXPECT_TRUE(of<RunEpilog>(b.effects)[0].in_job);
  EXPECT_TRUE(of<EndExternal>(b.effects).empty());
  b.event(EpilogEnded{kJob, 0, ""});
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  b.event(ended(kExternStep));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

TEST(External, OneThatCannotBeStartedIsTheNodesFault) {
  Bench b({false, true});
  b.order(contained());
  b.event(StepFailed{kJob, 0, kExternStep, true, "no process to spare"});
  auto told = of<LaunchFailed>(b.reports);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].node_fault);
  EXPECT_EQ(told[0].text, "the external step could not be started: no process to spare");
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  EXPECT_EQ(of<RunEpilog>(b.effects).size(), 1u);
}

TEST(External, OneThatEndsBeforeItsTimeIsNotMissed) {
  Bench b;
  b.order(contained());
  b.event(started(kExternStep));
  b.event(started(kBatchStep));
  b.event(ended(kExternStep));
  EXPECT_TRUE(b.reports.empty() && b.effects.empty());
  b.event(ended(kBatchStep));
  EXPECT_TRUE(of<EndExternal>(b.effects).empty());
  EXPECT_EQ(of<JobGone>(b.reports).size() + of<BatchFinished>(b.reports).size(), 2u);
}

TEST(External, AJobThatIsToldToEndWhileItComesUpEndsIt) {
  Bench b;
  b.order(contained());
  b.order(Bench::terminate(7));
  EXPECT_TRUE(of<JobGone>(b.reports).empty());
  b.event(started(kExternStep));
  EXPECT_TRUE(of<StartBatch>(b.effects).empty());
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  b.event(ended(kExternStep));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

// A slurmd that was killed finds it again, and slurmctld repeats what it has not heard the end of.
TEST(External, IsNotStartedAgainAfterARestart) {
  Bench b({true, false});
  b.event(started(kExternStep));
  b.order(contained());
  EXPECT_TRUE(of<StartExternal>(b.effects).empty());
  EXPECT_TRUE(of<RunProlog>(b.effects).empty());
  EXPECT_EQ(of<StartBatch>(b.effects).size(), 1u);

  Bench of_allocation;
  of_allocation.event(started(kExternStep));
  of_allocation.order(prepare());
  EXPECT_TRUE(of_allocation.effects.empty());
  EXPECT_EQ(of<JobPrepared>(of_allocation.reports).size(), 1u);
  ASSERT_EQ(of_allocation.core.registration().size(), 1u);
  EXPECT_TRUE(of_allocation.core.registration()[0].steps.empty()) << "for slurmctld it is no step that somebody made";
}

// The end of the script may be found first: the job is not gone before this is.
TEST(External, IsEndedWhenItIsFoundAfterTheRest) {
  NodeCore core;
  core.on_event(started(kBatchStep));
  core.on_event(ended(kBatchStep));
  core.on_event(started(kExternStep));
  EXPECT_EQ(of<EndExternal>(core.take_effects()).size(), 1u);
  core.on_order(Registered{1, {}}, from_unix(1000));
  EXPECT_TRUE(of<JobGone>(core.take_reports()).empty());
  core.on_event(ended(kExternStep));
  EXPECT_EQ(of<JobGone>(core.take_reports()).size(), 1u);

  NodeCore both_ended;
  const auto usage = std::make_shared<const StepUsage>();
  both_ended.on_event(ended(kBatchStep));
  both_ended.on_event(ended(kExternStep, usage));
  both_ended.on_order(Registered{1, {}}, from_unix(1000));
  const auto told = of<JobGone>(both_ended.take_reports());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].external, usage);
}

// srun of the script may be faster than the order.
TEST(External, StepsThatAreHereDoNotWaitForIt) {
  Bench b;
  b.event(StepAsked{kJob, 0, StepId(0)});
  ASSERT_EQ(of<StartStep>(b.effects).size(), 1u);
  b.event(started(StepId(0)));
  b.order(prepare());
  EXPECT_EQ(of<StartExternal>(b.effects).size(), 1u);
  EXPECT_EQ(of<JobPrepared>(b.reports).size(), 1u);
  b.order(Bench::terminate(7));
  EXPECT_EQ(of<EndSteps>(b.effects).size(), 1u);
  b.event(ended(StepId(0)));
  EXPECT_EQ(of<EndExternal>(b.effects).size(), 1u);
  b.event(started(kExternStep));
  EXPECT_TRUE(b.effects.empty()) << "it was told already";
  b.event(ended(kExternStep));
  EXPECT_EQ(of<JobGone>(b.reports).size(), 1u);
}

TEST(External, OneThatCannotBeKilledDrainsTheNode) {
  Bench b;
  b.order(prepare());
  b.event(started(kExternStep));
  b.order(Bench::terminate(7));
  b.event(StepsUnkillable{kJob, 0, "sshd (812) of step 7.extern cannot be interrupted"});
  ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobGone>(b.reports)[0].epilog_error, "Kill task failed: sshd (812) of step 7.extern cannot be interrupted");
}

}  // namespace
}  // namespace muster::slurmd
