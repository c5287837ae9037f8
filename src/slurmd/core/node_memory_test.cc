// --mem-update on a node: what a job uses is measured when slurmctld asks, and its steps have less when it says so.
#include <gtest/gtest.h>

#include "slurmd/core/node_core_testing.h"

namespace muster::slurmd {
namespace {

using namespace node_rpc;
using test::Bench;
using test::of;

TEST(Memory, WhatTheStepsUseIsMeasuredAndTold) {
  Bench b;
  b.order(Bench::launch(7));
  b.order(MeasureJob{JobId(7), 0});
  ASSERT_EQ(of<MeasureSteps>(b.effects).size(), 1u);
  EXPECT_TRUE(of<JobMeasured>(b.reports).empty());
  b.event(StepsMeasured{JobId(7), 0, Bytes(4096)});
  ASSERT_EQ(of<JobMeasured>(b.reports).size(), 1u);
  EXPECT_EQ(of<JobMeasured>(b.reports)[0].resident, std::optional(Bytes(4096)));
}

TEST(Memory, AJobOfWhichNothingIsHereUsesNothing) {
  Bench b;
  b.order(Bench::launch(7, 1));
  for (const MeasureJob& order : {MeasureJob{JobId(8), 0}, MeasureJob{JobId(7), 0}}) {
    b.order(order);
    EXPECT_TRUE(b.effects.empty());
    ASSERT_EQ(of<JobMeasured>(b.reports).size(), 1u);
    EXPECT_EQ(of<JobMeasured>(b.reports)[0].resident, std::optional(Bytes(0)));
  }
}

TEST(Memory, ALimitReachesTheStepsOfThisRunAlsoThoseThatComeLater) {
  Bench b;
  b.order(Bench::launch(7, 1));
  b.order(LimitMemory{JobId(7), 0, 600});
  EXPECT_TRUE(b.effects.empty());
  b.order(LimitMemory{JobId(8), 1, 600});
  EXPECT_TRUE(b.effects.empty());
  b.order(LimitMemory{JobId(7), 1, 600});
  ASSERT_EQ(of<LimitMemoryOfSteps>(b.effects).size(), 1u);
  EXPECT_EQ(of<LimitMemoryOfSteps>(b.effects)[0].order.mem_mb, 600u);
  b.event(StepStarted{JobId(7), 1, kBatchStep});
  EXPECT_EQ(of<LimitMemoryOfSteps>(b.effects).size(), 1u);
}

TEST(Memory, AJobThatHasEndedHasNoLimit) {
  Bench b;
  b.order(Bench::terminate(7));
  b.order(LimitMemory{JobId(7), 0, 600});
  EXPECT_TRUE(b.effects.empty());
}

}  // namespace
}  // namespace muster::slurmd
