// Limits of accounts at work: a job waits with the reason, goes on when another ends, and moves with its account.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "sched/explain/explain.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using Limits = std::vector<Limit>;

// Account team, crew below it, and other; alice may use all, with limits on an account or a user's association by its name.
rpc::Entities a_site(const std::map<std::string, Limits>& limits, const Limits& of_qos = {}, const std::string& qos_flag = "") {
  ADirectory d;
  d.qos("normal").account("root").account("team").account("crew", "team").account("other");
  d.user("alice", "crew").association("alice", "crew", {"normal"}).association("alice", "other", {"normal"});
  rpc::Entities all = d.entities();
  for (AssociationRecord& a : all.associations)
    if (auto at = limits.find(a.user.empty() ? a.account : a.user + "@" + a.account); at != limits.end()) a.limits = at->second;
  all.qos[0].limits = of_qos;
  if (!qos_flag.empty()) all.qos[0].flags = {qos_flag};
  return all;
}

Limits cpus(uint64_t n) { return {{LimitKind::kGrpTres, "cpu", n}}; }

struct Site : Bench {
  explicit Site(const rpc::Entities& known, const std::string& more = "")
      : Bench("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n" + more) {
    learn(known);
  }
  void learn(const rpc::Entities& known) {
    turn([&] { core.learn_directory(known); });
  }
  static JobRequest a_job(uint32_t tasks = 1, const std::string& account = "") {
    return request([&](JobRequest& r) {
      r.user_name = "alice";
      r.account = account;
      r.num_tasks = tasks;
    });
  }
  Result<JobId> ask(const JobRequest& r) {
    Result<rpc::JobSubmitted> answer = fail(Errc::kError);
    turn([&] { answer = core.run(Caller{r.uid, r.gid, {}, {}}, r); });
    if (!answer) return std::unexpected(answer.error());
    return answer->job;
  }
  JobId submit_tasks(uint32_t tasks, const std::string& account = "") {
    auto job = ask(a_job(tasks, account));
    EXPECT_TRUE(job) << job.error().message() << " " << job.error().hint;
    return job.value_or(JobId());
  }
  Reason reason(JobId job) const { return reason_shown(core.cluster(), get(job)); }
};

TEST(AccountLimits, AJobWaitsUntilAnotherEnds) {
  Site b(a_site({{"team", cpus(3)}}));
  const JobId first = b.submit_tasks(2), second = b.submit_tasks(2), small = b.submit_tasks(1);
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.state(second), JobState::kPending);
  EXPECT_EQ(b.reason(second), Reason::kAssocGrpCpuLimit);
  EXPECT_EQ(b.state(small), JobState::kRunning) << "it keeps nothing from those behind it";
  EXPECT_EQ(b.core.cluster().moment.verdicts.at(second.value).expected_start, Time{});
  b.started(first);
  b.ends(first);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  b.expect_replay_equal();
}

// Two plans may be on their way at once, each from a snapshot in which the other's job does not run, and each keeps the limit by itself.
TEST(AccountLimits, ThoseOnTimeAreAskedAgainWhereAJobStarts) {
  for (const Limits& limit : {Limits{{LimitKind::kGrpTresRunMins, "cpu", 15}}, Limits{{LimitKind::kGrpJobs, "", 1}}}) {
    Site b(a_site({{"team", limit}}));
    const JobId first = b.submit_tasks(1);
    const sched::Plan one = sched::Planner().plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
    b.control(rpc::JobAction::kHold, first);
    const JobId second = b.submit_tasks(1);
    const sched::Plan two = sched::Planner().plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kQuick);
    b.control(rpc::JobAction::kRelease, first);
    ASSERT_EQ(one.starts.size() + two.starts.size(), 2u);
    b.turn([&] { EXPECT_EQ(b.core.carry_out(one), 1u); });
    b.turn([&] { EXPECT_EQ(b.core.carry_out(two), 0u) << "ten minutes of one CPU, and ten more, of fifteen"; });
    EXPECT_EQ(b.state(second), JobState::kPending);
  }
}

// What is held for a job that others make room for is the job's already where limits are counted: else another job of its account would start,
// and those who made room would have done so for nothing.
TEST(AccountLimits, WhatAClaimHoldsCounts) {
  Site b(a_site({{"team", cpus(4)}}), "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\nPartitionName=DEFAULT GraceTime=30\n"
                                      "PartitionName=urgent Nodes=n[0-3] PriorityTier=9 MaxTime=60\n");
  const auto whole = [&](const std::string& account, const std::string& partition) {
    JobRequest r = Site::a_job(4, account);
    r.partitions = {partition};
    return b.ask(r).value_or(JobId());
  };
  std::vector<JobId> low;
  for (int i = 0; i < 4; ++i) low.push_back(whole("other", "main"));
  ASSERT_EQ(b.plan(), 4u);
  for (JobId id : low) b.started(id);
  const JobId claims = whole("", "urgent");
  b.plan();
  ASSERT_TRUE(b.get(claims).turns->claim);
  const JobId victim = b.get(claims).turns->claim->victims.at(0), over = victim == low[0] ? low[1] : low[0];
  b.ends(over);
  const JobId another = whole("", "main");
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.reason(another), Reason::kAssocGrpCpuLimit);
  b.ends(victim);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(claims), JobState::kRunning);
  b.expect_replay_equal();
}

TEST(AccountLimits, ExplainNamesTheLimitAndWhoUsesIt) {
  Site b(a_site({{"team", cpus(3)}}));
  const JobId first = b.submit_tasks(2), other = b.submit_tasks(4, "other"), waits = b.submit_tasks(2);
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.state(other), JobState::kRunning);
  const JobExplanation e = sched::explain_job(b.core.cluster(), b.settings.sched, b.now, b.get(waits));
  EXPECT_EQ(e.reason, Reason::kAssocGrpCpuLimit);
  EXPECT_EQ(e.detail, "GrpTRES=cpu of account team: 2 of 3 in use, 2 more wanted");
  ASSERT_EQ(e.limits.size(), 1u);
  EXPECT_EQ(e.limits[0].name, "GrpTRES=cpu of account team");
  EXPECT_EQ(e.limits[0].used, 2u);
  EXPECT_EQ(e.limits[0].limit, 3u);
  ASSERT_EQ(e.limits[0].holders.size(), 1u);
  EXPECT_EQ(e.limits[0].holders[0].id, first);
}

TEST(AccountLimits, AnotherAccountMovesItFromUnderTheLimit) {
  Site b(a_site({{"team", {{LimitKind::kGrpJobs, "", 1}}}}));
  const JobId first = b.submit_tasks(1), second = b.submit_tasks(1);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.reason(second), Reason::kAssocGrpJobsLimit);
  ASSERT_TRUE(b.update(second, "Account", "other"));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  EXPECT_EQ(b.core.cluster().ledger.use_of(Holder::association(b.get(first).association)).running, 1u);
  EXPECT_NE(b.get(first).association, b.get(second).association);
  b.expect_replay_equal();
}

TEST(AccountLimits, LoweredBelowWhatRunsNothingEndsAndNothingStarts) {
  Site b(a_site({}));
  const JobId first = b.submit_tasks(4), second = b.submit_tasks(4);
  EXPECT_EQ(b.plan(), 2u);
  b.learn(a_site({{"crew", cpus(5)}}));
  const JobId third = b.submit_tasks(1);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  EXPECT_EQ(b.reason(third), Reason::kAssocGrpCpuLimit);
  b.learn(a_site({{"crew", cpus(9)}}));
  EXPECT_EQ(b.plan(), 1u);
}

// The plan was made before sacctmgr lowered the limit.
TEST(AccountLimits, AStartIsAskedAgain) {
  Site b(a_site({{"team", cpus(4)}}));
  const JobId job = b.submit_tasks(2);
  auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  b.learn(a_site({{"team", cpus(1)}}));
  b.turn([&] { EXPECT_EQ(b.core.carry_out(plan), 0u); });
  EXPECT_EQ(b.state(job), JobState::kPending);
}

// One CPU is asked for, and the whole node would be given.
TEST(AccountLimits, AnExclusiveJobCountsWhatItGets) {
  Site b(a_site({{"team", cpus(3)}}));
  JobRequest r = Site::a_job();
  r.exclusive = Exclusive::kNode;
  const JobId whole = b.ask(r).value(), other = b.ask(r).value(), small = b.submit_tasks(1);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.reason(whole), Reason::kAssocGrpCpuLimit);
  EXPECT_EQ(b.reason(other), Reason::kAssocGrpCpuLimit);
  EXPECT_EQ(b.state(small), JobState::kRunning);
  b.learn(a_site({{"team", cpus(5)}}));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(whole), JobState::kRunning);
}

TEST(AccountLimits, TasksOfAnArrayStartAsFarAsTheLimitGoes) {
  Site b(a_site({{"alice@crew", cpus(3)}}));
  JobRequest r = Site::a_job();
  r.array = "0-9";
  const JobId array = b.ask(r).value();
  EXPECT_EQ(b.plan(), 3u);
  EXPECT_EQ(b.reason(array), Reason::kAssocGrpCpuLimit);
  EXPECT_EQ(b.core.cluster().ledger.use_of(Holder::association(b.get(array).association)).submitted, 10u);
  b.expect_replay_equal();
}

TEST(AccountLimits, WithoutTheWordTheyHoldNobodyBack) {
  Bench b("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,qos\n");
  b.turn([&] { b.core.learn_directory(a_site({{"team", cpus(1)}})); });
  JobRequest r = Site::a_job(4);
  b.turn([&] { EXPECT_TRUE(b.core.run(Caller{r.uid, r.gid, {}, {}}, r)); });
  EXPECT_EQ(b.plan(), 1u);
}

// The snapshot has no ledger: it is counted again.
TEST(AccountLimits, ARestartKnowsWhatIsHeld) {
  Site b(a_site({{"team", cpus(3)}}));
  b.submit_tasks(2);
  EXPECT_EQ(b.plan(), 1u);
  Cluster stored = b.core.cluster();
  stored.ledger = {};
  stored.tres = nullptr;
  Core again(b.settings);
  again.restore(stored);
  EXPECT_TRUE(again.cluster().ledger == b.core.cluster().ledger);
  EXPECT_FALSE(again.cluster().ledger == Ledger());
}

TEST(AccountLimits, TooManySubmittedAreRefusedUntilOneIsOver) {
  Site b(a_site({{"team", {{LimitKind::kGrpSubmitJobs, "", 3}}}}));
  JobRequest array = Site::a_job();
  array.array = "0-2";
  const JobId one = b.submit_tasks(1);
  auto refused = b.ask(array);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kAccountingPolicy);
  EXPECT_EQ(refused.error().hint, "GrpSubmitJobs of account team: 1 of 3 in use, 3 more wanted");
  EXPECT_FALSE(b.core.run(Caller{array.uid, {}, {}, {}}, TestOnly{array})) << "--test-only says so as well";
  b.cancel(one);
  EXPECT_TRUE(b.ask(array));
  EXPECT_FALSE(b.ask(Site::a_job()));
  EXPECT_TRUE(b.ask(Site::a_job(1, "other")));
}

TEST(AccountLimits, AJobThatIsTooLargeAloneWaitsUnlessItsQosDenies) {
  const Limits two = {{LimitKind::kMaxTresPerJob, "cpu", 2}};
  Site b(a_site({}, two));
  const JobId waits = b.submit_tasks(3);
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(b.reason(waits), Reason::kQOSMaxCpuPerJobLimit);
  Site denies(a_site({}, two, "DenyOnLimit"));
  auto refused = denies.ask(Site::a_job(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kAccountingPolicy);
  EXPECT_TRUE(denies.ask(Site::a_job(2)));
  Site group(a_site({{"team", cpus(2)}}, {}, "DenyOnLimit"));
  EXPECT_FALSE(group.ask(Site::a_job(3))) << "a limit of a group is one of a job that could never start";
  group.submit_tasks(2);
  EXPECT_TRUE(group.ask(Site::a_job(2))) << "what others have does not deny it";
}

}  // namespace
}  // namespace muster::slurmctld
