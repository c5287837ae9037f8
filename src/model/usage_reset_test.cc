// The boundaries at which usage starts anew, as local midnights; PriorityUsageResetPeriod of slurm.conf(5).
#include "model/usage_reset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster {
namespace {

struct UsageResets : testing::Test {
  UsageResets() {
    ::setenv("TZ", "Europe/Berlin", 1);
    ::tzset();
  }
  ~UsageResets() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static Time at(int year, int month, int day, int hour = 0, int minute = 0) {
    std::tm t{};
    t.tm_year = year - 1900, t.tm_mon = month - 1, t.tm_mday = day, t.tm_hour = hour, t.tm_min = minute, t.tm_isdst = -1;
    return Time(seconds(mktime(&t)));
  }
};

TEST_F(UsageResets, TheNextBoundary) {
  using enum UsageResetPeriod;
  const Time then = at(2026, 11, 23, 15, 30);  // a Monday
  EXPECT_EQ(next_usage_reset(kNone, then), kTimeInfinite);
  EXPECT_EQ(next_usage_reset(kNow, then), kTimeInfinite);
  EXPECT_EQ(next_usage_reset(kDaily, then), at(2026, 11, 24));
  EXPECT_EQ(next_usage_reset(kWeekly, then), at(2026, 11, 29));
  EXPECT_EQ(next_usage_reset(kMonthly, then), at(2026, 12, 1));
  EXPECT_EQ(next_usage_reset(kQuarterly, then), at(2027, 1, 1));
  EXPECT_EQ(next_usage_reset(kYearly, then), at(2027, 1, 1));
}

TEST_F(UsageResets, ABoundaryIsFollowedByTheNextOne) {
  using enum UsageResetPeriod;
  EXPECT_EQ(next_usage_reset(kDaily, at(2026, 11, 24)), at(2026, 11, 25));
  EXPECT_EQ(next_usage_reset(kWeekly, at(2026, 11, 29)), at(2026, 12, 6));
  EXPECT_EQ(next_usage_reset(kMonthly, at(2026, 12, 1)), at(2027, 1, 1));
  EXPECT_EQ(next_usage_reset(kQuarterly, at(2026, 4, 1)), at(2026, 7, 1));
}

TEST_F(UsageResets, MidnightIsMidnightWhenTheClocksChange) {
  const Time before = at(2026, 10, 25, 1), next = next_usage_reset(UsageResetPeriod::kDaily, before);
  EXPECT_EQ(next, at(2026, 10, 26));
  EXPECT_EQ(next - before, minutes(24 * 60));  // 23 hours by the clock, and the one that comes twice
}

TEST_F(UsageResets, Words) {
  EXPECT_EQ(parse_usage_reset_period("weekly"), UsageResetPeriod::kWeekly);
  EXPECT_EQ(parse_usage_reset_period("hourly"), std::nullopt);
}

}  // namespace
}  // namespace muster
