// Limits on minutes at work: running jobs end at the moment at which they are used up, and only those that the limit is about.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "sched/queue/priority.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using Limits = std::vector<Limit>;
constexpr const char* kConfig =
    "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityDecayHalfLife=0\n"
    "PriorityUsageResetPeriod=YEARLY\n";

// Accounts team and other, alice and bob in each of them.
rpc::Entities a_site(const Limits& of_team, const Limits& of_qos = {}, Time usage_reset = {}) {
  ADirectory d;
  d.qos("normal").account("root").account("team").account("other");
  d.user("alice", "team").association("alice", "team", {"normal"}).user("bob", "other").association("bob", "other", {"normal"});
  rpc::Entities all = d.entities();
  all.associations[1].limits = of_team;
  all.associations[1].usage_reset = usage_reset;
  all.qos[0].limits = of_qos;
  return all;
}

struct Site : Bench {
  explicit Site(const rpc::Entities& known, const std::string& enforce = "limits")
      : Bench(std::string(kConfig) + "AccountingStorageEnforce=" + enforce + "\n") {
    learn(known);
  }
  void learn(const rpc::Entities& known) {
    turn([&] { core.learn_directory(known); });
  }
  JobId start(const std::string& user, uint32_t tasks, uint32_t minutes = 60) {
    const JobId job = submit([&](JobRequest& r) {
      r.user_name = user;
      r.num_tasks = tasks;
      r.time_limit_min = minutes;
    });
    plan();
    EXPECT_EQ(state(job), JobState::kRunning);
    if (state(job) == JobState::kRunning) started(job);
    return job;
  }
};

Limits cpu_minutes(uint64_t n) { return {{LimitKind::kGrpTresMins, "cpu", n}}; }

TEST(Minutes, WhenTheyAreUsedUpTheJobsOfTheGroupEndAtThatMoment) {
  Site b(a_site(cpu_minutes(10)));
  const JobId first = b.start("alice", 2), second = b.start("alice", 2), other = b.start("bob", 1);
  b.wait(seconds(140));
  EXPECT_EQ(b.state(first), JobState::kRunning);
  b.wait(seconds(20));
  for (JobId job : {first, second}) {
    EXPECT_EQ(b.state(job), JobState::kTimeout);
    EXPECT_EQ(b.get(job).reason, Reason::kAssocGrpCPUMinutesLimit);
    EXPECT_EQ(*b.get(job).detail, "GrpTRESMins=cpu of account team: 10 of 10 minutes used");
  }
  EXPECT_EQ(b.state(other), JobState::kRunning);
  b.expect_replay_equal();
}

TEST(Minutes, WithSafeNothingIsEnded) {
  Site b(a_site(cpu_minutes(1000)), "safe");
  const JobId job = b.start("alice", 2, 60);
  b.learn(a_site(cpu_minutes(1)));
  b.wait(minutes(30));
  EXPECT_EQ(b.state(job), JobState::kRunning);
}

TEST(Minutes, ALimitBelowWhatWasUsedEndsWhatRuns) {
  Site b(a_site({}));
  const JobId job = b.start("alice", 2);
  b.wait(minutes(10));
  b.learn(a_site(cpu_minutes(5)));
  b.wait(seconds(1));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
}

TEST(Minutes, ASuspendedJobPutsTheMomentOff) {
  Site b(a_site(cpu_minutes(10)));
  const JobId job = b.start("alice", 2);
  b.wait(minutes(2));
  b.control(rpc::JobAction::kSuspend, job);
  b.wait(minutes(60));
  EXPECT_EQ(b.state(job), JobState::kSuspended);
  b.control(rpc::JobAction::kResume, job);
  b.wait(seconds(160));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(seconds(40));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
}

TEST(Minutes, RawUsageSetToNothingGivesThemBack) {
  Site b(a_site(cpu_minutes(10)));
  const JobId job = b.start("alice", 2);
  b.wait(minutes(4));
  b.learn(a_site(cpu_minutes(10), {}, b.now));
  b.wait(minutes(4));
  EXPECT_EQ(b.state(job), JobState::kRunning);
  EXPECT_NEAR(b.core.cluster().used_by_association(2, b.now).of(TresTable::kCpu), 2 * 240, 10);
  b.learn(a_site(cpu_minutes(10), {}, b.now - minutes(4)));
  EXPECT_NEAR(b.core.cluster().used_by_association(2, b.now).of(TresTable::kCpu), 2 * 240, 10) << "an older one says nothing";
  b.wait(seconds(70));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  b.expect_replay_equal();
}

TEST(Minutes, OfAQosBindTheJobsOfAPartitionThatHasIt) {
  Site b(a_site({}, cpu_minutes(10)));
  const JobId job = b.start("alice", 4);
  b.wait(seconds(160));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
  EXPECT_EQ(b.get(job).reason, Reason::kQOSGrpCPUMinutesLimit);
}

TEST(Minutes, AreFollowedAgainAfterARestart) {
  Site b(a_site(cpu_minutes(10)));
  const JobId job = b.start("alice", 2);
  b.wait(minutes(2));
  Core again(b.settings);
  again.restore(b.core.cluster());
  auto turn_at = [&](Time when, bool first) {
    again.begin(when);
    if (first) again.configure(b.settings);
    again.housekeep();
    again.commit();
    return again.cluster().jobs.at(job.value).state;
  };
  EXPECT_EQ(turn_at(b.now, true), JobState::kRunning);
  EXPECT_LE(again.next_timer(), b.now + minutes(3) + milliseconds(1));
  EXPECT_EQ(turn_at(b.now + seconds(170), false), JobState::kRunning);
  EXPECT_EQ(turn_at(b.now + seconds(185), false), JobState::kTimeout);
}

TEST(Minutes, AFailedAppendLosesNoMoment) {
  Site b(a_site(cpu_minutes(10)));
  const JobId job = b.start("alice", 2);
  b.now += minutes(6);
  b.failing_turn([] {});
  EXPECT_EQ(b.state(job), JobState::kRunning);
  b.wait(seconds(1));
  b.wait(seconds(1));
  EXPECT_EQ(b.state(job), JobState::kTimeout);
}

// ---- jobs whose age counts in turn
struct Queue : Site {
  explicit Queue(const rpc::Entities& known, const std::string& more = "")
      : Site(known, "limits\nPriorityWeightAge=1000\nPriorityMaxAge=1-0\n" + more) {}
  JobId wait_in_line(const std::string& user = "alice") {
    return submit([&](JobRequest& r) {
      r.user_name = user;
      r.min_nodes = 4;
      r.time_limit_min = 60;
    });
  }
  Time since(JobId job) const { return get(job).accrues; }
};

TEST(Accrual, AsManyGrowInPriorityAsTheLimitLets) {
  Queue b(a_site({{LimitKind::kGrpJobsAccrue, "", 2}}));
  const JobId first = b.wait_in_line(), second = b.wait_in_line(), third = b.wait_in_line(), other = b.wait_in_line("bob");
  EXPECT_EQ(b.since(third), kTimeInfinite);
  EXPECT_EQ(b.since(other), kTimeUnset) << "no limit bounds it";
  b.wait(minutes(5));
  EXPECT_NE(b.since(first), kTimeInfinite);
  EXPECT_NE(b.since(second), kTimeInfinite);
  EXPECT_EQ(b.since(third), kTimeInfinite);
  EXPECT_EQ(b.core.cluster().ledger.use_of(Holder::association(2)).accruing, 2u);
  b.wait(minutes(100));
  const sched::PriorityRule rule(b.core.cluster(), b.settings.priority, b.now);
  EXPECT_GT(rule.of(b.get(first)), 60u);
  EXPECT_EQ(rule.of(b.get(third)), 1u);
  b.cancel(first);
  b.wait(minutes(5));
  EXPECT_GE(b.since(third), b.now - minutes(5)) << "its age counts from its turn on";
  b.expect_replay_equal();
}

TEST(Accrual, JobsThatWereThereBeforeTheLimitKeepTheirAge) {
  Queue b(a_site({}));
  const JobId first = b.wait_in_line(), second = b.wait_in_line();
  b.wait(minutes(50));
  b.learn(a_site({{LimitKind::kMaxJobsAccrue, "", 9}, {LimitKind::kGrpJobsAccrue, "", 1}}));
  const JobId third = b.wait_in_line();
  b.wait(minutes(5));
  EXPECT_EQ(b.since(first), b.get(first).eligible);
  EXPECT_EQ(b.since(second), b.get(second).eligible);
  EXPECT_EQ(b.since(third), kTimeInfinite);
  b.learn(a_site({}));
  b.wait(minutes(5));
  EXPECT_NE(b.since(third), kTimeInfinite) << "nothing bounds it any more";
  b.expect_replay_equal();
}

// Guide priority_multifactor, age factor: it does not change while a job is beyond the limits of its partition.
TEST(Accrual, AJobBeyondItsPartitionsLimitsKeepsTheAgeThatItHas) {
  Queue b(a_site({}));
  b.set_node("n0", "DRAIN");
  const auto job = [&](uint32_t limit) {
    return b.submit([&](JobRequest& r) {
      r.user_name = "alice";
      r.min_nodes = 4;
      r.time_limit_min = limit;
    });
  };
  const auto pass = [&](int min) {
    b.plan();
    b.wait(minutes(min));
    b.plan();
  };
  const auto priority = [&](JobId id) { return sched::PriorityRule(b.core.cluster(), b.settings.priority, b.now).of(b.get(id)); };
  const JobId too_long = job(90), fits = job(60);
  pass(5);
  pass(100);
  EXPECT_LE(priority(too_long), 4u) << "one period at most";
  const uint32_t grown = priority(fits);
  EXPECT_GE(grown, 69u);
  b.turn([&] {
    ASSERT_TRUE(b.core.run(Caller::root(), rpc::UpdatePartition{.name = "main", .changes = {{"MaxTime", "=", "30"}}}).has_value());
  });
  pass(5);
  const uint32_t stopped = priority(fits);
  EXPECT_GE(stopped, grown);
  pass(200);
  EXPECT_EQ(priority(fits), stopped);
  EXPECT_EQ(b.core.cluster().ledger.use_of(Holder::association(2)).accruing, 0u);
  ASSERT_TRUE(b.update(too_long, "TimeLimit", "20").has_value());
  ASSERT_TRUE(b.update(fits, "TimeLimit", "30").has_value());
  pass(5);
  pass(100);
  EXPECT_GE(priority(fits), stopped + 66) << "it goes on from there";
  EXPECT_GE(priority(too_long), 66u);
  b.expect_replay_equal();
}

TEST(Accrual, WithAccrueAlwaysThereAreNoTurns) {
  Queue b(a_site({{LimitKind::kGrpJobsAccrue, "", 0}}), "PriorityFlags=ACCRUE_ALWAYS\n");
  const JobId job = b.wait_in_line();
  b.wait(minutes(100));
  EXPECT_EQ(b.since(job), kTimeUnset);
  EXPECT_GT(sched::PriorityRule(b.core.cluster(), b.settings.priority, b.now).of(b.get(job)), 60u);
}

}  // namespace
}  // namespace muster::slurmctld
