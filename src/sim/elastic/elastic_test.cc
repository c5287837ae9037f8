// Days of elastic clusters with failing capacity: no node is lost or used twice, and the cost is what the schedule needs.
#include <gtest/gtest.h>

#include "sim/elastic/elastic_day.h"

namespace muster::sim::elastic {
namespace {

class ElasticDays : public testing::TestWithParam<std::tuple<uint64_t, bool>> {};

TEST_P(ElasticDays, LoseNoNodeAndPayForNothing) {
  DayRules rules;
  std::tie(rules.seed, rules.kit_tells) = GetParam();
  const Day day = play(rules);
  for (const std::string& broken : day.broken) ADD_FAILURE() << broken;
  EXPECT_EQ(day.completed, rules.jobs);
  EXPECT_GT(day.refused, 10u);
  EXPECT_GT(day.restarts, 5u);
  EXPECT_LE(day.paid_hours, 1.02 * day.best_hours);
  std::printf("seed %llu: %llu machines, %llu refused, %llu restarts; %.1f h paid, best %.1f, used %.1f; %llu turns\n",
              static_cast<unsigned long long>(rules.seed), static_cast<unsigned long long>(day.machines),
              static_cast<unsigned long long>(day.refused), static_cast<unsigned long long>(day.restarts), day.paid_hours, day.best_hours,
              day.used_hours, static_cast<unsigned long long>(day.turns));
}

INSTANTIATE_TEST_SUITE_P(Days, ElasticDays, testing::Combine(testing::Range<uint64_t>(1, 7), testing::Bool()));

class ElasticBudget : public testing::TestWithParam<std::tuple<uint64_t, bool, uint32_t>> {};

TEST_P(ElasticBudget, NeverAreMoreNodesPoweredUpThanMayBe) {
  DayRules rules;
  rules.jobs = 150;
  std::tie(rules.seed, rules.kit_tells, rules.most_powered) = GetParam();
  const Day day = play(rules);
  for (const std::string& broken : day.broken) ADD_FAILURE() << broken;
  EXPECT_EQ(day.completed, rules.jobs) << "all jobs have their turn, the largest as well";
  EXPECT_EQ(day.most_powered, rules.most_powered) << "the bound is met";
}

INSTANTIATE_TEST_SUITE_P(Days, ElasticBudget, testing::Combine(testing::Range<uint64_t>(1, 4), testing::Bool(), testing::Values(8u, 12u)));

TEST(Cloud, HasTheSameMachineUntilItIsLetGo) {
  const Time begin = from_unix(1'800'000'000);
  CloudRules rules;
  rules.good_span = minutes(100000);
  Cloud cloud(rules, 2, 5, begin);
  const auto first = cloud.ask(0, begin), again = cloud.ask(0, begin + seconds(5));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->machine, again->machine);
  EXPECT_GE(first->boots_at, begin + rules.boot_least);
  EXPECT_LE(first->boots_at, begin + rules.boot_most);
  cloud.let_go(0);
  EXPECT_FALSE(cloud.has(0));
  EXPECT_NE(cloud.ask(0, begin + seconds(10))->machine, first->machine);
  EXPECT_EQ(cloud.asked(), 2u);
}

TEST(Cloud, WithoutCapacityNoMachineComes) {
  const Time begin = from_unix(1'800'000'000);
  CloudRules rules;
  rules.good_span = seconds(1);
  rules.bad_span = minutes(1000000);
  Cloud cloud(rules, 1, 5, begin);
  EXPECT_FALSE(cloud.ask(0, begin + minutes(600)));
  EXPECT_EQ(cloud.refused(), 1u);
}

}  // namespace
}  // namespace muster::sim::elastic
