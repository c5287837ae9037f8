// Usage decays as PriorityDecayHalfLife says, exactly, however intervals are cut, and whatever the clock does.
#include "model/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace muster {
namespace {

constexpr Duration kHour = minutes(60);
constexpr Duration kNoDecay{0};
const Time kStart = from_unix(1'700'000'000);
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is left at `to`, added up over `steps` short pieces, each decayed from its middle.
double by_sums(double rate, Time from, Time to, Duration half_life, int steps) {
  const double length = static_cast<double>((to - from).count()) / 1e6, half = static_cast<double>(half_life.count()) / 1e6;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double left_to_go = length * (1 - (i + 0.5) / steps);
    sum += rate * (length / steps) * std::pow(0.5, left_to_go / half);
  }
  return sum;
}

void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-12 * std::max(std::abs(a), std::abs(b))); }

TEST(Usage, HalfIsLeftAfterEachHalfLife) {
  const Usage usage{1000, kStart};
  EXPECT_EQ(left_of(usage, kStart, kHour), 1000);
  EXPECT_EQ(left_of(usage, kStart + kHour, kHour), 500);
  EXPECT_EQ(left_of(usage, kStart + 3 * kHour, kHour), 125);
  EXPECT_DOUBLE_EQ(left_of(usage, kStart + kHour / 2, kHour), 1000 / std::sqrt(2));
}

TEST(Usage, WithoutAHalfLifeNothingDecays) {
  Usage usage{1000, kStart};
  EXPECT_EQ(left_of(usage, kStart + 1000 * kHour, kNoDecay), 1000);
  EXPECT_EQ(left_of(usage, kTimeInfinite, kNoDecay), 1000);
  EXPECT_EQ(accrued(4, kStart, kStart + kHour, kNoDecay), 14'400);
  charge(usage, 4, kStart + kHour, kStart + 2 * kHour, kNoDecay);
  EXPECT_EQ(usage, (Usage{15'400, kStart + 2 * kHour}));
}

TEST(Usage, WhatAccruesIsTheIntegral) {
  for (Duration length : {seconds(1), minutes(10), kHour, 10 * kHour, 100 * kHour}) {
    const Time to = kStart + length;
    const double sums = by_sums(7, kStart, to, kHour, 200'000);
    EXPECT_NEAR(accrued(7, kStart, to, kHour), sums, 1e-6 * sums) << to_seconds(length);
  }
}

// However long a job runs, it never has more than one that has always been running.
TEST(Usage, AJobThatAlwaysRunsReachesRateTimesHalfLifeByLogTwo) {
  EXPECT_DOUBLE_EQ(accrued(2, kStart, kStart + 10'000 * kHour, kHour), 2 * 3600 / std::log(2));
}

// The formula 1 - 2^-x loses all digits where x is small, as a second is to a year.
TEST(Usage, AShortIntervalKeepsItsDigits) {
  const double seconds_in_year = 365.0 * 24 * 3600;
  const double decay = std::log(2) / seconds_in_year;
  EXPECT_DOUBLE_EQ(accrued(1, kStart, kStart + seconds(1), 365 * 24 * kHour), 1 - decay / 2);
  EXPECT_DOUBLE_EQ(accrued(1, kStart, kStart + Duration(1), 365 * 24 * kHour), 1e-6 * (1 - decay * 1e-6 / 2));
}

TEST(Usage, AnIntervalThatIsSplitGivesTheSame) {
  Random rng(1);
  for (int round = 0; round < 1000; ++round) {
    const Duration length(static_cast<int64_t>(rng.uniform(1, 20'000'000'000)));
    const Duration half_life(static_cast<int64_t>(rng.uniform(0, 5) * rng.uniform(1, 10'000'000'000)));
    Usage whole{static_cast<double>(rng.uniform(0, 1000)), kStart}, parts = whole;
    charge(whole, 3, kStart, kStart + length, half_life);
    Time at = kStart;
    while (at < kStart + length) {
      const Time next =
          std::min(kStart + length, at + Duration(static_cast<int64_t>(rng.uniform(1, static_cast<uint64_t>(length.count())))));
      charge(parts, 3, at, next, half_life);
      at = next;
    }
    expect_close(parts.amount, whole.amount);
    EXPECT_EQ(parts.at, whole.at);
  }
}

TEST(Usage, AskingInBetweenChangesNothing) {
  const Usage usage{1000, kStart};
  const Usage between{left_of(usage, kStart + minutes(17), kHour), kStart + minutes(17)};
  expect_close(left_of(between, kStart + kHour, kHour), 500);
}

TEST(Usage, AChargeAddsToWhatIsLeft) {
  Usage usage{1000, kStart};
  charge(usage, 1, kStart + minutes(30), kStart + kHour, kHour);
  EXPECT_DOUBLE_EQ(usage.amount, 500 + accrued(1, kStart + minutes(30), kStart + kHour, kHour));
  EXPECT_EQ(usage.at, kStart + kHour);
}

// Jobs end in any order, and their ends are told late.
TEST(Usage, TheOrderOfChargesMakesNoDifference) {
  struct Run {
    double rate;
    Time from, to;
  };
  const std::vector<Run> runs{
      {4, kStart, kStart + minutes(50)}, {1, kStart + minutes(5), kStart + minutes(20)}, {9, kStart + minutes(19), kStart + minutes(21)}};
  std::vector<size_t> order{0, 1, 2};
  double expected = 0;
  for (const Run& r : runs) expected += left_of({accrued(r.rate, r.from, r.to, kHour), r.to}, kStart + minutes(50), kHour);
  do {
    Usage usage;
    for (size_t i : order) charge(usage, runs[i].rate, runs[i].from, runs[i].to, kHour);
    EXPECT_EQ(usage.at, kStart + minutes(50));
    expect_close(usage.amount, expected);
  } while (std::ranges::next_permutation(order).found);
}

TEST(Usage, BeforeItsMomentItIsWhole) { EXPECT_EQ(left_of({1000, kStart}, kStart - kHour, kHour), 1000); }

TEST(Usage, AnIntervalThatEndsBeforeItBeginsAddsNothing) {
  EXPECT_EQ(accrued(4, kStart, kStart, kHour), 0);
  EXPECT_EQ(accrued(4, kStart, kStart - seconds(1), kHour), 0);
  EXPECT_EQ(accrued(4, kStart, kStart - seconds(1), kNoDecay), 0);
  Usage usage{1000, kStart};
  charge(usage, 4, kStart, kStart - seconds(1), kHour);
  EXPECT_EQ(usage, (Usage{1000, kStart}));
}

// A clock that was a year ahead for a moment must not keep usage from decaying and charges from counting for a year.
TEST(Usage, AClockThatWasFarAheadIsForgotten) {
  Usage usage{1000, kStart + 365 * 24 * kHour};
  charge(usage, 1, kStart, kStart + seconds(10), kHour);
  EXPECT_EQ(usage.at, kStart + seconds(10));
  EXPECT_NEAR(usage.amount, 1010, 0.02);
  EXPECT_NEAR(left_of(usage, kStart + kHour, kHour), 505, 1);
}

TEST(Usage, AClockThatSteppedBackALittleLosesNothing) {
  Usage usage{1000, kStart};
  charge(usage, 1, kStart - seconds(30), kStart - seconds(20), kHour);
  EXPECT_EQ(usage.at, kStart);
  EXPECT_NEAR(usage.amount, 1010, 0.05);
}

TEST(Usage, AJumpingClockGivesAmountsThatAreNumbersAndNotBelowZero) {
  Random rng(2);
  const std::vector<Time> times{Time{}, kTimeInfinite, Time::min(), kStart, kStart - kHour, kStart + kHour, from_unix(4'000'000'000)};
  const std::vector<double> rates{0, 1, -1, 1e308, kInfinity, -kInfinity, kNan};
  const std::vector<Duration> half_lives{kNoDecay, Duration(1), kHour, Duration::max(), -kHour};
  for (int round = 0; round < 2000; ++round) {
    Usage usage{rng.pick(rates), rng.pick(times)};
    for (int k = 0; k < 10; ++k) {
      const Duration half_life = rng.pick(half_lives);
      const Time from = rng.pick(times), to = rng.pick(times), now = rng.pick(times);
      charge(usage, rng.pick(rates), from, to, half_life);
      EXPECT_TRUE(usage.amount >= 0 && usage.amount <= kMostUsage) << usage.amount;
      const double left = left_of(usage, now, half_life);
      EXPECT_TRUE(left >= 0 && left <= usage.amount) << left;
    }
  }
}

}  // namespace
}  // namespace muster
