#include "sched/future/far_future.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);  // 13:47:00
constexpr int64_t kBase = 1'000'020 / 60;
const Time kFar = from_unix(1'000'800) + minutes(24 * 60);  // the next full hour, and a day

TEST(FarFuture, StartsAndLengthsAreOfACoarseGridThere) {
  const FarFuture far(kNow, 60, kBase, false);
  const Slot begins = static_cast<Slot>(far.begins() - kBase);
  EXPECT_EQ(from_unix((kBase + begins) * 60), kFar);
  EXPECT_EQ(far.start(begins - 1), begins - 1);
  EXPECT_EQ(far.start(begins), begins);
  EXPECT_EQ(far.start(begins + 1), begins + 10);
  EXPECT_EQ(far.start(begins + 10), begins + 10);
  EXPECT_EQ(far.start(kNever), kNever);
  EXPECT_EQ(far.length(61, begins - 1), 61u);
  EXPECT_EQ(far.length(61, begins), 70u);
  EXPECT_EQ(far.length(60, begins + 10), 60u);
}

TEST(FarFuture, BeginsAtTheSameMomentForAnHour) {
  const auto begins = [](int64_t second) { return FarFuture(from_unix(second), 60, second / 60, false).begins(); };
  EXPECT_EQ(begins(1'000'020), begins(1'000'799));
  EXPECT_EQ(begins(1'000'800), begins(1'000'020) + 60);
}

TEST(FarFuture, IsNoneWhereTheGridIsCoarseAlreadyOrHasToBeExact) {
  for (const FarFuture& none :
       {FarFuture(kNow, 600, 1, false), FarFuture(kNow, 3600, 1, false), FarFuture(kNow, 70, 1, false), FarFuture(kNow, 60, kBase, true)}) {
    EXPECT_EQ(none.begins(), 0);
    EXPECT_EQ(none.start(9'999), 9'999u);
    EXPECT_EQ(none.length(61, 9'999), 61u);
  }
}

// One node, taken for so long; then a job of 61 minutes after the other.
std::vector<Time> starts_behind(uint32_t busy_min, int jobs) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  submit(c, a_job().nodes(1).exclusive().minutes(busy_min), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
  std::vector<JobId> waiting;
  for (int i = 0; i < jobs; ++i) waiting.push_back(submit(c, a_job().nodes(1).exclusive().minutes(61)));
  const Plan plan = Planner().plan(c, {}, kNow, Pass::kFull);
  std::vector<Time> out;
  for (JobId id : waiting) out.push_back(verdict_of(plan, id)->expected_start);
  return out;
}

TEST(FarFuture, StartsWithinADayAreToTheMinute) {
  EXPECT_EQ(starts_behind(63, 3), (std::vector<Time>{kNow + minutes(63), kNow + minutes(124), kNow + minutes(185)}));
}

TEST(FarFuture, StartsBeyondItAreNotAndNobodyStartsTooSoon) {
  const Time first = kFar + minutes(130);  // the node is free at kFar + 123 minutes
  EXPECT_EQ(starts_behind(13 + 24 * 60 + 123, 3), (std::vector<Time>{first, first + minutes(70), first + minutes(140)}));
}

}  // namespace
}  // namespace muster::sched
