#include "slurmd/core/task_nice.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

std::optional<int> nice(unsigned mode, const char* asked, int own = 0, bool root = false) {
  return task_nice(mode, {"A=1", std::string("SLURM_PRIO_PROCESS=") + asked}, own, root);
}

TEST(TaskNice, TheSubmittersByMode) {
  EXPECT_EQ(nice(0, "7"), std::nullopt);
  EXPECT_EQ(nice(1, "7"), 7);
  EXPECT_EQ(nice(2, "7"), 7);
  EXPECT_EQ(nice(2, "0"), 1);
  EXPECT_EQ(nice(2, "3", 19), 19);
}

TEST(TaskNice, NobodyButRootGetsMoreThanSlurmd) {
  EXPECT_EQ(nice(1, "-20"), 0);
  EXPECT_EQ(nice(1, "-5", 4), 4);
  EXPECT_EQ(nice(1, "-5", 0, true), -5);
  EXPECT_EQ(nice(2, "-5", 0, true), 1);
}

// Taking the variable away is no way around it.
TEST(TaskNice, WithTwoTasksAreNicerThanSlurmdWhateverTheEnvironmentSays) {
  EXPECT_EQ(nice(2, "x"), 1);
  EXPECT_EQ(task_nice(2, {}, 3, false), 4);
}

TEST(TaskNice, WhatIsNoNiceValueIsNotTaken) {
  for (const char* bad : {"", "x", "20", "-21", "1 2"}) EXPECT_EQ(nice(1, bad), std::nullopt) << bad;
  EXPECT_EQ(task_nice(1, {}, 0, false), std::nullopt);
}

}  // namespace
}  // namespace muster::slurmd
