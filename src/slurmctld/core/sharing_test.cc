// Fair sharing at work: what was used makes the next job of an account come later, usage survives a restart, sshare and sprio tell the same.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/priority_rows.h"
#include "slurmctld/core/share_rows.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kFairShare =
    "PriorityType=priority/multifactor\nPriorityWeightFairshare=10000\nPriorityCalcPeriod=1\nPriorityDecayHalfLife=1-0\n";

// Accounts one and two with a user each; the shares of both accounts.
rpc::Entities a_site(uint64_t one = 1, uint64_t two = 1) {
  ADirectory d;
  d.qos("normal").account("root").account("one").account("two");
  d.user("alice", "one").association("alice", "one", {"normal"}).user("bob", "two").association("bob", "two", {"normal"});
  rpc::Entities all = d.entities();
  for (AssociationRecord& a : all.associations) {
    a.depth = a.user.empty() ? (a.account == "root" ? 0 : 1) : 2;
    if (a.user.empty() && a.account != "root") a.limits = {{LimitKind::kShares, "", a.account == "one" ? one : two}};
  }
  return all;
}

struct Site : Bench {
  explicit Site(const rpc::Entities& known = a_site(), const std::string& more = "")
      : Bench("AccountingStorageType=accounting_storage/slurmdbd\n" + std::string(kFairShare) + more) {
    learn(known);
  }
  void learn(const rpc::Entities& known) {
    turn([&] { core.learn_directory(known); });
  }
  JobId submit_as(const std::string& user, uint32_t tasks = 1, uint32_t minutes = 10) {
    return submit([&](JobRequest& r) {
      r.user_name = user;
      r.num_tasks = tasks;
      r.time_limit_min = minutes;
    });
  }
  void run(JobId job, Duration how_long) {
    plan();
    ASSERT_EQ(state(job), JobState::kRunning);
    started(job);
    wait(how_long);
    is_over(job);
  }
  void is_over(JobId job) {
    const AllocationPtr had = get(job).allocation;
    ends(job);
    for (size_t i = 1; i < had->nodes.size(); ++i) gone(job, had->nodes[i].node.value);
  }
  double used(const std::string& account) const {
    const AccountDirectory& d = *core.cluster().directory;
    return core.cluster().used_by_association(d.accounts.find(account)->association, now).of(TresTable::kCpu);
  }
  std::vector<PriorityRow> priorities() const {
    rpc::PriorityRows part;
    PriorityQuery query(core.snapshot(), settings.priority, now, {});
    EXPECT_TRUE(query.next(part));
    EXPECT_EQ(part.weights.fair_share.weighted, 10000);
    return part.jobs;
  }
};

TEST(Sharing, WhoHasUsedLessComesFirst) {
  Site b;
  b.run(b.submit_as("alice", 16), minutes(5));
  EXPECT_NEAR(b.used("one"), 16 * 300, 20);
  const JobId alice = b.submit_as("alice", 16), bob = b.submit_as("bob", 16);
  b.wait(minutes(1));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(bob), JobState::kRunning) << "though it came later";
  EXPECT_EQ(b.state(alice), JobState::kPending);
  b.expect_replay_equal();
}

// alice's association uses all nodes while a job of hers waits.
struct Grown : Site {
  explicit Grown(const std::string& flags) : Site(a_site(), flags) {
    runs = submit_as("alice", 16, 60);
    plan();
    started(runs);
    waits = submit_as("alice", 16);
    before = priority(waits);
    wait(minutes(5));
    plan();
  }
  uint32_t priority(JobId job) const { return sched::PriorityRule(core.cluster(), settings.priority, now).of(get(job)); }
  JobId runs{}, waits{};
  uint32_t before = 0;
};

TEST(Sharing, AReconfigureWaitsForNoPriorityCalcPeriod) {
  Site b;
  const JobId runs = b.submit_as("alice", 16, 60);
  b.plan();
  b.started(runs);
  const JobId waits = b.submit_as("alice", 16);
  auto priority = [&] { return sched::PriorityRule(b.core.cluster(), b.settings.priority, b.now).of(b.get(waits)); };
  const uint32_t before = priority();
  b.wait(seconds(5));
  b.plan();
  EXPECT_EQ(priority(), before) << "by the factors of this period";
  b.turn([&] { b.core.configure(b.settings); });
  b.plan();
  EXPECT_LT(priority(), before);
}

TEST(Sharing, APriorityFallsWithTheFairShare) {
  Grown b("");
  EXPECT_LT(b.priority(b.waits), b.before);
}

TEST(Sharing, WithIncrOnlyNoPriorityFalls) {
  Grown b("PriorityFlags=INCR_ONLY\n");
  EXPECT_EQ(b.priority(b.waits), b.before);
  const auto rows = b.priorities();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].priority, b.before);
  b.expect_replay_equal();
}

TEST(Sharing, WithIncrOnlyJobsStartByThePrioritiesTheyHad) {
  for (const bool only_up : {false, true}) {
    Grown b(only_up ? "PriorityFlags=INCR_ONLY\n" : "");
    const JobId other = b.submit_as("bob", 16);
    b.is_over(b.runs);
    b.wait(minutes(1));
    EXPECT_EQ(b.plan(), 1u);
    EXPECT_EQ(b.state(only_up ? b.waits : other), JobState::kRunning) << only_up;
  }
}

TEST(Sharing, AKeptPriorityMovesWithTheNiceValue) {
  Grown b("PriorityFlags=INCR_ONLY\n");
  ASSERT_TRUE(b.update(b.waits, "Nice", "100"));
  EXPECT_EQ(b.priority(b.waits), b.before - 100);
}

// The priority that the job had when the last controller ended holds, though alice used more than her share until the next one started.
TEST(Sharing, WithIncrOnlyWhatFellWhileNoControllerRanIsMadeUpFor) {
  Site b(a_site(), "PriorityFlags=INCR_ONLY\n");
  const JobId runs = b.submit_as("alice", 16, 60);
  b.plan();
  b.started(runs);
  const JobId waits = b.submit_as("alice", 16);
  b.plan();
  const auto priority = [&](const Core& core, Time now) {
    return sched::PriorityRule(core.cluster(), b.settings.priority, now).of(core.cluster().jobs.at(waits.value));
  };
  const uint32_t before = priority(b.core, b.now);
  for (const Duration away : {seconds(10), Duration(minutes(30))}) {
    Cluster state = b.core.cluster();
    state.moment = {};
    Core again(b.settings);
    again.restore(std::move(state));
    const auto turn = [&](const auto& f) {
      again.begin(b.now + away);
      f();
      again.housekeep();
      again.commit();
    };
    turn([&] { again.configure(b.settings); });
    const sched::Plan plan = sched::Planner().plan(*again.snapshot(), b.settings.sched, b.now + away, sched::Pass::kFull);
    turn([&] { again.carry_out(plan); });
    EXPECT_GE(priority(again, b.now + away), before);
  }
}

TEST(Sharing, WithIncrOnlyAQosThatIsWorthLessLowersNobody) {
  auto site = [](uint64_t priority) {
    rpc::Entities all = a_site();
    for (QosRecord& q : all.qos) q.limits = {{LimitKind::kPriority, "", priority}};
    return all;
  };
  Site b(site(5), "PriorityFlags=INCR_ONLY,NO_NORMAL_QOS\nPriorityWeightQOS=100\n");
  const JobId runs = b.submit_as("bob", 16), waits = b.submit_as("alice", 16);
  b.plan();
  b.started(runs);
  auto priority = [&] { return sched::PriorityRule(b.core.cluster(), b.settings.priority, b.now).of(b.get(waits)); };
  const uint32_t before = priority();
  b.learn(site(1));
  EXPECT_EQ(priority(), before);
  b.learn(site(9));
  EXPECT_EQ(priority(), before + 400);
  b.expect_replay_equal();
}

TEST(Sharing, SprioTellsWhatThePassGoesBy) {
  Site b;
  b.run(b.submit_as("alice", 16), minutes(5));
  b.wait(minutes(1));
  b.submit_as("bob", 16);
  b.plan();
  const JobId alice = b.submit_as("alice", 16), bob = b.submit_as("bob", 16);
  b.plan();
  const std::vector<PriorityRow> rows = b.priorities();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].job, alice);
  EXPECT_EQ(rows[1].job, bob);
  EXPECT_EQ(rows[0].fair_share.normal, 0.5);
  EXPECT_EQ(rows[1].fair_share.normal, 1);
  EXPECT_EQ(rows[1].fair_share.weighted, 10000);
  EXPECT_EQ(rows[1].priority, 10000u);
  EXPECT_EQ(rows[1].partition, "main");
  EXPECT_EQ(rows[1].account, "two");
}

TEST(Sharing, SprioListsNoJobThatIsHeldOrBeginsLater) {
  Site b;
  b.submit([](JobRequest& r) { r.hold = true; });
  b.submit([&](JobRequest& r) { r.begin = b.now + minutes(10); });
  const JobId fixed = b.submit([](JobRequest& r) {
    r.uid = Uid{0};
    r.priority = 777;
  });
  const std::vector<PriorityRow> rows = b.priorities();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].job, fixed);
  EXPECT_EQ(rows[0].priority, 777u);
  EXPECT_EQ(rows[0].fair_share.weighted, 0) << "it was set, and is made of nothing";
}

TEST(Sharing, SshareTellsTheTree) {
  Site b(a_site(3, 1));
  b.run(b.submit_as("alice", 4), minutes(5));
  const rpc::ShareRows shares = query_shares(b.core.cluster(), b.settings.priority.fair_share, b.now, {});
  EXPECT_TRUE(shares.fair_tree);
  std::string tree;
  for (const ShareRow& r : shares.shares) tree += std::string(r.depth, ' ') + r.account + " " + r.user + "\n";
  EXPECT_EQ(tree, "root \n one \n  one alice\n two \n  two bob\n");
  EXPECT_EQ(shares.shares[1].norm_shares, 0.75);
  EXPECT_EQ(shares.shares[1].effective_usage, 1);
  EXPECT_NEAR(shares.shares[0].raw_usage, 4 * 300, 5);
  EXPECT_NEAR(static_cast<double>(*shares.shares[2].used_minutes.cpus), 20, 1);
  EXPECT_EQ(shares.shares[2].factor, 0.5);
  EXPECT_EQ(shares.shares[4].factor, 1);
}

TEST(Sharing, SshareCountsWhatRunningJobsMayStillUse) {
  Site b;
  const JobId job = b.submit_as("alice", 4, 10);
  b.plan();
  b.started(job);
  b.wait(minutes(3));
  const rpc::ShareRows shares = query_shares(b.core.cluster(), b.settings.priority.fair_share, b.now, {});
  EXPECT_EQ(shares.shares[0].run_minutes.cpus, 4u * 7);
  EXPECT_EQ(shares.shares[3].run_minutes.cpus, 0u);
}

TEST(Sharing, UsersWhomPrivateDataHidesAreLeftOut) {
  Site b(a_site(), "PrivateData=users\n");
  auto names = [&](const std::string& user, uint32_t uid) {
    Caller who{Uid(uid), Gid(uid), {}, {}};
    who.name = user;
    std::string out;
    const Privacy privacy(b.settings, b.core.cluster().directory, who);
    for (const ShareRow& r : query_shares(b.core.cluster(), b.settings.priority.fair_share, b.now, privacy).shares) out += r.user + " ";
    return out;
  };
  EXPECT_EQ(names("alice", 1000), "  alice  ");
  EXPECT_EQ(names("root", 0), "  alice  bob ");
}

TEST(Sharing, UsageSurvivesARestart) {
  Site b;
  b.run(b.submit_as("alice", 16), minutes(5));
  const JobId runs = b.submit_as("alice", 2, 60);
  b.plan();
  b.started(runs);
  b.wait(minutes(5));
  const double before = b.used("one");
  EXPECT_GT(before, 16 * 300);
  b.expect_replay_equal();
  Core again(b.settings);
  again.restore(b.core.cluster());
  again.begin(b.now);
  again.configure(b.settings);
  again.commit();
  const uint32_t account = again.cluster().directory->accounts.find("one")->association;
  EXPECT_EQ(again.cluster().used_by_association(account, b.now).of(TresTable::kCpu), before);
}

TEST(Sharing, UsageIsResetWhenThePeriodEnds) {
  Site b(a_site(), "PriorityUsageResetPeriod=DAILY\n");
  b.run(b.submit_as("alice", 16), minutes(5));
  EXPECT_GT(b.used("one"), 0);
  const Time midnight = next_usage_reset(UsageResetPeriod::kDaily, b.now);
  b.wait(midnight - b.now - seconds(1));
  EXPECT_GT(b.used("one"), 0);
  b.wait(seconds(1));
  EXPECT_EQ(b.used("one"), 0);
  b.run(b.submit_as("alice", 16), minutes(5));
  EXPECT_GT(b.used("one"), 0);
  b.wait(minutes(24 * 60));
  EXPECT_EQ(b.used("one"), 0) << "and the next day again";
  b.expect_replay_equal();
}

TEST(Sharing, TheHalfLifeIsAFactOfTheLog) {
  Site b;
  EXPECT_EQ(b.core.cluster().usage_rule.half_life, minutes(24 * 60));
  b.run(b.submit_as("alice", 16), minutes(5));
  const double before = b.used("one");
  b.wait(minutes(24 * 60));
  EXPECT_NEAR(b.used("one"), before / 2, 1);
}

// Account one, with twice the shares of two, has had the cluster to itself for ten hours when two comes. From then on both always have more
// jobs than there is room for.
TEST(Sharing, UseConvergesToTheShares) {
  Site b(a_site(2, 1));
  auto hour = [&](const std::vector<std::string>& users) {
    for (const std::string& user : users)
      for (int i = 0; i < 4; ++i) b.submit_as(user, 4, 60);
    EXPECT_EQ(b.plan(), 4u) << "a node each";
    std::vector<JobId> running;
    b.core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
      if (j.state == JobState::kRunning) running.push_back(j.id);
    });
    for (JobId job : running) b.started(job);
    b.wait(minutes(59));
    for (JobId job : running) b.ends(job);
    b.wait(minutes(1));
  };
  for (int i = 0; i < 10; ++i) hour({"alice"});
  EXPECT_EQ(b.used("two"), 0);
  for (int i = 0; i < 48; ++i) hour({"alice", "bob"});  // two half-lives
  EXPECT_NEAR(b.used("one") / b.used("two"), 2, 0.2);
}

TEST(Sharing, JobsThatCameBeforeTheirAccountsHaveAShareToo) {
  Site b;
  b.turn([&] { b.core.learn_directory(rpc::Entities()); });
  const JobId early = b.submit([](JobRequest& r) {
    r.user_name = "bob";
    r.account = "two";
  });
  EXPECT_EQ(b.get(early).association, 0u);
  b.learn(a_site());
  EXPECT_EQ(b.get(early).association, b.core.cluster().directory->association("bob", "two", "")->id);
  b.expect_replay_equal();
}

TEST(Sharing, PrioritiesOfAssociationsAndQos) {
  rpc::Entities known = a_site();
  for (AssociationRecord& a : known.associations)
    if (a.user == "alice") a.limits.push_back({LimitKind::kPriority, "", 50});
    else if (a.user == "bob") a.limits.push_back({LimitKind::kPriority, "", 100});
  known.qos[0].limits = {{LimitKind::kPriority, "", 7}};
  Site b(known, "PriorityWeightAssoc=1000\nPriorityWeightQOS=500\n");
  const JobId full = b.submit_as("bob", 16);
  b.plan();
  EXPECT_EQ(b.state(full), JobState::kRunning);
  b.submit_as("alice", 16);
  b.submit_as("bob", 16);
  b.plan();
  const std::vector<PriorityRow> rows = b.priorities();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].association.weighted, 500);
  EXPECT_EQ(rows[1].association.weighted, 1000);
  EXPECT_EQ(rows[0].qos_factor.weighted, 500) << "the greatest there is";
}

}  // namespace
}  // namespace muster::slurmctld
