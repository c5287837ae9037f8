// Usage decays as PriorityDecayHalfLife says, exactly, however a stretch of time is cut, and whatever the clock does.
#include "model/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace muster {
namespace {

constexpr Duration kHour = minutes(60);
constexpr Duration kNoDecay{0};
const Time kStart = from_unix(1'700'000'000);
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double left(Duration length, Duration half_life = kHour) { return elapsed(kStart, kStart + length, half_life).left; }
double gained(Duration length, Duration half_life = kHour) { return elapsed(kStart, kStart + length, half_life).gained; }

// What is left at the end of a second's use each second, added up over short pieces, each decayed from its middle.
double by_sums(Duration length, int steps) {
  const double whole = static_cast<double>(length.count()) / 1e6, half = static_cast<double>(kHour.count()) / 1e6;
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += whole / steps * std::pow(0.5, whole * (1 - (i + 0.5) / steps) / half);
  return sum;
}

void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-12 * std::max(std::abs(a), std::abs(b))); }

TEST(Usage, HalfIsLeftAfterEachHalfLife) {
  EXPECT_EQ(left(Duration{}), 1);
  EXPECT_EQ(left(kHour), 0.5);
  EXPECT_EQ(left(3 * kHour), 0.125);
  EXPECT_DOUBLE_EQ(left(kHour / 2), 1 / std::sqrt(2));
}

TEST(Usage, WithoutAHalfLifeNothingDecays) {
  EXPECT_EQ(left(1000 * kHour, kNoDecay), 1);
  EXPECT_EQ(elapsed(kStart, kTimeInfinite, kNoDecay).left, 1);
  EXPECT_EQ(gained(kHour, kNoDecay), 3600);
}

TEST(Usage, WhatAccruesIsTheIntegral) {
  for (Duration length : {seconds(1), minutes(10), kHour, 10 * kHour, 100 * kHour}) {
    const double sums = by_sums(length, 200'000);
    EXPECT_NEAR(gained(length), sums, 1e-6 * sums) << to_seconds(length);
  }
}

// However long a job runs, it never has more than one that has always been running.
TEST(Usage, AJobThatAlwaysRunsReachesItsHalfLifeByLogTwo) { expect_close(gained(10'000 * kHour), 3600 / std::log(2.0)); }

TEST(Usage, AShortStretchKeepsItsDigits) { expect_close(gained(Duration(1), minutes(60) * 24 * 365), 1e-6); }

TEST(Usage, AStretchThatIsSplitGivesTheSame) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const Duration first = seconds(static_cast<int64_t>(random.uniform(0, 99'999))),
                   then = seconds(static_cast<int64_t>(random.uniform(0, 99'999)));
    expect_close(gained(first + then), gained(first) * left(then) + gained(then));
    expect_close(left(first + then), left(first) * left(then));
  }
}

TEST(Usage, AStretchThatEndsBeforeItBeginsIsNone) {
  EXPECT_EQ(elapsed(kStart, kStart - kHour, kHour).left, 1);
  EXPECT_EQ(elapsed(kStart, kStart - kHour, kHour).gained, 0);
}

TEST(Usage, AnyNumberIsBounded) {
  EXPECT_EQ(bounded(kNan), 0);
  EXPECT_EQ(bounded(-1), 0);
  EXPECT_EQ(bounded(kInfinity), kMostUsage);
}

TEST(Usage, TheMomentAtWhichALimitIsReachedIsExact) {
  EXPECT_EQ(seconds_until(100, 100, 1, kHour), 0);
  EXPECT_EQ(seconds_until(100, 40, 2, kNoDecay), 30);
  EXPECT_EQ(seconds_until(100, 40, 0, kHour), std::nullopt);
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const double amount = static_cast<double>(random.uniform(0, 9'999)), limit = amount + 1 + static_cast<double>(random.uniform(0, 9'999));
    const double rate = 1 + static_cast<double>(random.uniform(0, 7));
    const auto at = seconds_until(limit, amount, rate, kHour);
    const double most = rate * 3600 / std::log(2.0);
    ASSERT_EQ(at.has_value(), most > limit);
    if (!at || *at > 1e8) continue;
    const Elapsed e = elapsed(kStart, kStart + Duration(static_cast<int64_t>(*at * 1e6)), kHour);
    EXPECT_NEAR(amount * e.left + rate * e.gained, limit, 1e-4 * limit);
  }
}

}  // namespace
}  // namespace muster
