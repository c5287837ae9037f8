#include <gtest/gtest.h>

#include <set>

#include "sched/gate.h"
#include "sched/rules/array_limit.h"
#include "sched/rules/eligibility.h"
#include "sched/rules/job_rule.h"
#include "sched/rules/job_rules.h"
#include "sched/rules/node_rule.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

struct World {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  Params params;
  Held held;
  Partition& partition() { return *c.partitions.edit(0); }
  Hold ask(const JobBuilder& job) {
    const Partition& p = c.partitions.at(0);
    RequestClass asked;
    if (auto shape = make_shape(job.request, p, params)) asked.shape = std::move(*shape);
    else asked.never = std::move(shape).error();
    asked.time_limit_min = job.request.time_limit_min.value_or(60);
    Grant grant;
    const auto gate = Gate::make(c, params, kNow);
    return first_to_hold(rules_concerning(asked, p, params), {c, params, p, job.request, asked, nullptr, gate.get()}, held, grant);
  }
};

// Rows that could not be asked, or that count and never take.
TEST(Rules, EachRowAnswersWhatItHasTo) {
  std::set<std::string_view> names;
  for (const JobRule* rule : job_rules()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    EXPECT_TRUE(rule->holds) << rule->name;
    EXPECT_TRUE(rule->counts || (!rule->take && !rule->begin)) << rule->name;
    EXPECT_TRUE(rule->limit == nullptr || rule->of == Of::kAmount) << rule->name;
    // The future keeps the times of reservations by itself (future/reserved_time.h); they are no amounts.
    const bool foreseen = rule->by == HelpedBy::kForeseen && rule != &kReservationTime;
    EXPECT_EQ(foreseen, rule->amounts != nullptr) << rule->name << ": what is foreseen the future has to know";
    EXPECT_FALSE(rule->same_for_class && rule->of == Of::kAmount) << rule->name;
  }
  for (const NodeRule* rule : node_rules()) EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
  for (const NodeRule* rule : narrowing_rules()) EXPECT_TRUE(rule->narrow) << rule->name;
}

TEST(Rules, NobodyStartsWithoutAChannel) {
  World w;
  w.c.channels.set(5, 1);
  EXPECT_FALSE(w.ask(a_job()));
  w.params.imex_channels = 1;
  EXPECT_EQ(w.ask(a_job()).reason, Reason::kResources);
  w.params.imex_channels = 2;
  EXPECT_FALSE(w.ask(a_job()));
}

TEST(Rules, DeferKeepsOnlyThoseThatAreToStartAtOnce) {
  World w;
  JobBuilder job = a_job(), at_once = a_job();
  at_once.request.immediate_seconds = 1;
  EXPECT_FALSE(w.ask(at_once));
  w.params.defer = true;
  EXPECT_FALSE(w.ask(job));
  EXPECT_EQ(w.ask(at_once).reason, Reason::kSchedDefer);
}

TEST(Rules, TheFirstThatHoldsNamesTheReason) {
  World w;
  w.partition().max_nodes = 1;
  w.partition().deny_accounts = {"physics"};
  JobBuilder job = a_job().nodes(2);
  job.request.account = "physics";
  EXPECT_EQ(w.ask(job).reason, Reason::kPartitionNodeLimit);
  w.partition().state = PartitionState::kDown;
  EXPECT_EQ(w.ask(job).reason, Reason::kPartitionDown);
  w.partition().state = PartitionState::kUp;
  w.partition().max_nodes = 2;
  const Hold hold = w.ask(job);
  EXPECT_EQ(hold.reason, Reason::kAccountNotAllowed);
  ASSERT_TRUE(hold.rule);
  EXPECT_EQ(hold.rule->of, Of::kPartition);
  job.request.account = "chemistry";
  EXPECT_FALSE(w.ask(job));
}

// A job of one CPU, of the user whose jobs a_job() makes.
void let_one_run(Cluster& c) {
  submit(c, a_job(), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
}

TEST(Rules, AnAmountHoldsUntilItIsGivenBack) {
  World w;
  w.partition().max_cpus_per_user = 4;
  EXPECT_FALSE(w.ask(a_job().tasks(4)));
  let_one_run(w.c);
  const Hold hold = w.ask(a_job().tasks(4));
  EXPECT_EQ(hold.reason, Reason::kQOSMaxCpuPerUserLimit);
  ASSERT_TRUE(hold.rule && hold.rule->limit);
  EXPECT_FALSE(w.ask(a_job().tasks(3)));
}

TEST(Rules, WhatHoldsAClassIsAskedOnce) {
  World w;
  w.partition().state = PartitionState::kInactive;
  const Partition& p = w.c.partitions.at(0);
  RequestClass asked;
  const RequestBody request;
  const RuleSet all = rules_concerning(asked, p, {});
  const Hold barred = first_to_hold_class(all, {w.c, w.params, p, request, asked});
  EXPECT_EQ(barred.reason, Reason::kPartitionInactive);
  EXPECT_NE(rules_left(all, barred), 0u);
  EXPECT_EQ(rules_left(all, {}), 0u) << "a partition without limits has nothing to ask its jobs one by one";
}

// Planned while the partition let everybody in.
TEST(Rules, AListIsCheckedAgainAtTheStart) {
  World w;
  const JobId id = submit(w.c, a_job(), kNow);
  const StartItem item = *start_of(Planner().plan(w.c, w.params, kNow, Pass::kFull), id);
  const RequestBody& request = *w.c.jobs.at(id.value).request;
  EXPECT_TRUE(still_fits(w.c, w.params, request, item, from_unix(1000000), 60));
  w.partition().allow_accounts = {"nobody"};
  const Result<> refused = still_fits(w.c, w.params, request, item, from_unix(1000000), 60);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kPartitionNotAvailable);
}

TEST(Rules, HoldDependencyAndTimeKeepAJobOutOfTheQueue) {
  World w;
  Job job = w.c.jobs.at(submit(w.c, a_job(), kNow).value);
  EXPECT_EQ(not_eligible(job, kNow).reason, Reason::kNone);
  job.eligible = kNow + minutes(5);
  EXPECT_EQ(not_eligible(job, kNow).reason, Reason::kBeginTime);
  EXPECT_EQ(not_eligible(job, kNow).expected_start, kNow + minutes(5));
  job.priority = 0;
  job.flags |= kJobHeldByUser;
  EXPECT_EQ(not_eligible(job, kNow).reason, Reason::kJobHeldUser);
}

TEST(Rules, AnArrayLimitCountsWhatStartedSince) {
  ArrayLimit limit{7, 3, 1};
  EXPECT_EQ(limit.left(0), 2u);
  EXPECT_EQ(limit.left(2), 0u);
  EXPECT_FALSE(limit.view());
  limit.running = 3;
  ASSERT_TRUE(limit.view());
  EXPECT_EQ(limit.view()->used, 3u);
}

}  // namespace
}  // namespace muster::sched
