#include "slurmd/daemon/late_launches.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

const LateLaunches::Key kStep{JobId(7), StepId(0)};

TEST(LateLaunches, AreTriedAgainUntilTheyHaveWaitedForLong) {
  net::Loop loop;
  LateLaunches late(loop, milliseconds(20), milliseconds(1));
  int attempts = 0;
  std::function<void()> attempt = [&] {
    ++attempts;
    if (!late.wait(kStep, attempt)) loop.stop();
  };
  attempt();
  loop.run();
  EXPECT_GT(attempts, 1);
  EXPECT_FALSE(late.over(kStep)) << "it does not wait any more";
}

TEST(LateLaunches, OfAJobThatEndsAreNotStarted) {
  net::Loop loop;
  LateLaunches late(loop, minutes(1), milliseconds(1));
  bool started = false;
  EXPECT_TRUE(late.wait(kStep, [&] { started = true; }));
  EXPECT_TRUE(late.wait({JobId(8), StepId(0)}, [&] { loop.stop(); }));
  EXPECT_EQ(late.over(JobId(7)), (std::vector<StepId>{StepId(0)}));
  loop.run();
  EXPECT_FALSE(started);
}

TEST(LateLaunches, AreTriedAtOnceWhenTheyAreWoken) {
  net::Loop loop;
  LateLaunches late(loop, minutes(1), minutes(1));
  int started = 0;
  EXPECT_TRUE(late.wait(
      kStep, [&] { ++started; }, minutes(2)));
  EXPECT_TRUE(late.wait({JobId(7), StepId(1)}, [&] {
    ++started;
    loop.stop();
  }));
  EXPECT_TRUE(late.wait({JobId(8), StepId(0)}, [&] { started += 10; }));
  late.wake(JobId(7));
  loop.run();
  EXPECT_EQ(started, 2);
}

}  // namespace
}  // namespace muster::slurmd
