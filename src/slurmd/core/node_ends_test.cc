// Ends of steps and of runs, on the node's side: until when they are told, and how long they are remembered.
#include <gtest/gtest.h>

#include "slurmd/core/node_core.h"
#include "slurmd/core/node_core_testing.h"

namespace muster::slurmd {
namespace {

using namespace node_rpc;
using test::Bench;
using test::of;

TEST(Steps, EndIsToldInEachSessionUntilItIsTaken) {
  Bench b;
  b.event(StepAsked{JobId(5), 0, StepId(0)});
  b.core.disconnected();
  b.event(StepEnded{JobId(5), 0, StepId(0), 256, true});
  for (uint64_t session : {2, 3}) {
    b.order(Registered{session, {}});
    ASSERT_EQ(of<StepGone>(b.reports).size(), 1u);
    EXPECT_EQ(of<StepGone>(b.reports)[0].exit_status, 256);
    EXPECT_TRUE(of<StepGone>(b.reports)[0].out_of_memory);
    EXPECT_TRUE(of<ReleaseStep>(b.effects).empty());
  }
  b.order(StepEndTaken{JobId(5), 1, StepId(0)});
  EXPECT_TRUE(of<ReleaseStep>(b.effects).empty()) << "of another run";
  b.order(StepEndTaken{JobId(5), 0, StepId(0)});
  EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
  b.order(Registered{4, {}});
  EXPECT_TRUE(of<StepGone>(b.reports).empty());
}

TEST(Steps, WhatTheyUsedIsToldWithTheirEnds) {
  Bench b;
  const auto usage = std::make_shared<const StepUsage>();
  b.event(StepAsked{JobId(5), 0, StepId(0)});
  b.event(StepEnded{JobId(5), 0, StepId(0), 0, false, false, usage});
  ASSERT_EQ(of<StepGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<StepGone>(b.reports)[0].usage, usage);
  b.order(Registered{2, {}});
  ASSERT_EQ(of<StepGone>(b.reports).size(), 1u);
  EXPECT_EQ(of<StepGone>(b.reports)[0].usage, usage);
}

TEST(Steps, EndThatNobodyTakesGoesWithItsJob) {
  Bench b;
  b.event(StepAsked{JobId(5), 0, StepId(0)});
  b.event(StepEnded{JobId(5), 0, StepId(0), 0, false});
  auto end = Bench::terminate(5);
  end.forget = true;
  b.order(end);
  EXPECT_EQ(of<ReleaseStep>(b.effects).size(), 1u);
  EXPECT_EQ(b.core.jobs(), 0u);
}

// By then slurmctld is told, and gives what the run had to others.
TEST(Ends, ARunIsGoneWhenNothingOfItIsLeft) {
  Bench b({false, true});
  EXPECT_FALSE(b.core.is_gone(JobId(7), 0)) << "it may come yet";
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  b.order(Bench::terminate(7));
  EXPECT_FALSE(b.core.is_gone(JobId(7), 0));
  b.event(StepEnded{JobId(7), 0, StepId(0), 0, false});
  EXPECT_FALSE(b.core.is_gone(JobId(7), 0)) << "its epilog runs";
  b.event(EpilogEnded{JobId(7), 0, {}});
  EXPECT_TRUE(b.core.is_gone(JobId(7), 0));
  EXPECT_FALSE(b.core.is_gone(JobId(7), 1));
  b.order(ForgetJobs{{JobId(7)}});
  EXPECT_TRUE(b.core.is_gone(JobId(7), 0)) << "and forgotten";
}

TEST(Unkillable, WhatADeadSlurmstepdLeftDrainsTheNode) {
  for (bool with_epilog : {false, true}) {
    Bench b({false, with_epilog});
    b.event(StepAsked{JobId(7), 0, StepId(0)});
    b.event(StepStarted{JobId(7), 0, StepId(0)});
    b.event(StepSurvives{JobId(7), 0});
    b.event(StepEnded{JobId(7), 0, StepId(0), 9, false});
    b.order(Bench::terminate(7));
    if (with_epilog) b.event(EpilogEnded{JobId(7), 0, {}});
    ASSERT_EQ(of<JobGone>(b.reports).size(), 1u);
    EXPECT_EQ(of<JobGone>(b.reports)[0].epilog_error, "Kill task failed");
  }
}

TEST(Ended, ARunIsRememberedWhereverItIsOnItsWayOut) {
  Bench b;
  EXPECT_FALSE(b.core.has_ended(JobId(7), 0));
  b.event(StepAsked{JobId(7), 0, StepId(0)});
  EXPECT_FALSE(b.core.has_ended(JobId(7), 0));
  b.order(Bench::terminate(7));
  EXPECT_TRUE(b.core.has_ended(JobId(7), 0)) << "it ends";
  b.event(StepEnded{JobId(7), 0, StepId(0), 0, false});
  EXPECT_TRUE(b.core.has_ended(JobId(7), 0));
  for (uint32_t other = 100; other < 6100; ++other) {
    auto end = Bench::terminate(other);
    end.forget = true;
    b.order(end);
  }
  b.order(ForgetJobs{{JobId(7)}});
  EXPECT_TRUE(b.core.has_ended(JobId(7), 0));
  EXPECT_TRUE(b.core.has_ended(JobId(100), 0)) << "six thousand ends later";
  EXPECT_FALSE(b.core.has_ended(JobId(7), 1)) << "its next run has not begun";
  b.event(StepAsked{JobId(7), 1, StepId(0)});
  EXPECT_TRUE(b.core.has_ended(JobId(7), 0));
  b.core.remember_ended(JobId(9), 2);  // by an earlier slurmd
  b.event(StepAsked{JobId(9), 2, StepId(0)});
  EXPECT_EQ(of<RefuseStep>(b.effects).size(), 1u);
}

}  // namespace
}  // namespace muster::slurmd
