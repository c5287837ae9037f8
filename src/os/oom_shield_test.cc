#include "os/oom_shield.h"

#include <gtest/gtest.h>

#include <string>

#include "os/process.h"

namespace muster::os {
namespace {

TEST(OomShield, BothScalesAreRead) {
  EXPECT_EQ(oom_score_of("-17"), -1000);
  EXPECT_EQ(oom_score_of("15"), 1000);
  EXPECT_EQ(oom_score_of("0"), 0);
  EXPECT_EQ(oom_score_of("-8"), -470);
  EXPECT_EQ(oom_score_of("-1000"), -1000);
  EXPECT_EQ(oom_score_of("-18"), -18);
  EXPECT_EQ(oom_score_of("500"), 500);
  for (const char* bad : {"", "-1001", "1001", "never", "1.5"}) EXPECT_FALSE(oom_score_of(bad)) << bad;
}

// What a program started with that shield has; higher than ours is allowed to everybody, so this needs no root.
TEST(OomShield, WhatIsStartedHasItsOwnScore) {
  const int before = own_oom_score();
  if (before > 300) GTEST_SKIP() << "started with a score of " << before;
  OomShield shield;
  ASSERT_TRUE(shield.raise(400, 700));
  EXPECT_EQ(own_oom_score(), 400);
  SpawnSpec spec{.path = "/bin/cat", .argv = {"cat", "/proc/self/oom_score_adj"}};
  spec.oom_shield = &shield;
  auto ran = run_captured(spec, seconds(20));
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(ran->output, "700\n");
  EXPECT_EQ(own_oom_score(), 400) << "and ours is back";
  spec.oom_shield = nullptr;
  ran = run_captured(spec, seconds(20));
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output, "400\n");
  // Two on their way: the first that is there does not bring it back.
  {
    const ShieldDown one(&shield);
    { const ShieldDown two(&shield); }
    EXPECT_EQ(own_oom_score(), 700);
  }
  EXPECT_EQ(own_oom_score(), 400);
  static_cast<void>(set_oom_score(before));
}

}  // namespace
}  // namespace muster::os
