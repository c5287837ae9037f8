#include "model/sample_intervals.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(SampleIntervals, ANumberIsOfTasks) {
  EXPECT_EQ(SampleIntervals::parse("5")->task, 5u);
  EXPECT_EQ(SampleIntervals::parse("")->task, std::nullopt);
}

TEST(SampleIntervals, KindsInAnyCase) {
  auto s = SampleIntervals::parse("Task=10,ENERGY=0,network=3,filesystem=4");
  ASSERT_TRUE(s);
  EXPECT_EQ(*s, (SampleIntervals{10, 0, 3, 4}));
}

TEST(SampleIntervals, WhatIsNone) {
  for (const char* text : {"x", "task", "task=", "task=x", "foo=3", "task=-1", "task=99999999999", "task=1,bar=2"})
    EXPECT_FALSE(SampleIntervals::parse(text)) << text;
}

}  // namespace
}  // namespace muster
