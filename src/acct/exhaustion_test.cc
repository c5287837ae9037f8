// When running jobs have used up the minutes of a limit: to the moment, whatever decays, and whichever limit applies to them.
#include "acct/exhaustion.h"

#include <gtest/gtest.h>

#include "model/account_directory_testing.h"

namespace muster::acct {
namespace {

const Time kStart = from_unix(1'700'000'000);
using Limits = std::vector<Limit>;

// root(1), team(2), alice(3) in it.
struct World {
  Cluster cluster;
  Limits of_root, of_team, of_alice;
  QosRecord qos;
  World() { qos.name = "fast"; }

  void build(Duration half_life = {}) {
    ADirectory d;
    d.qos("fast").account("root").account("team").user("alice", "team").association("alice", "team", {"fast"});
    rpc::Entities all = d.entities();
    all.qos = {qos};
    all.associations[0].limits = of_root;
    all.associations[1].limits = of_team;
    all.associations[2].limits = of_alice;
    for (const AccountChanges& part : changes_to(nullptr, all)) cluster.learn_accounts(part, kStart);
    cluster.set_half_life(half_life, kStart);
    Partition p;
    p.name = "main";
    cluster.change_partition(0, &p, kStart);
  }
  const Job& start(uint32_t id, uint32_t cpus, Time at = kStart) {
    Job j;
    j.id = JobId(id);
    j.association = 3;
    JobRequest r;
    r.account = "team";
    r.qos = "fast";
    j.ask(r);
    j.state = JobState::kRunning;
    j.started = at;
    auto a = std::make_shared<Allocation>();
    a->nodes.emplace_back().cpus = Bitmap(cpus, true);
    j.allocation = a;
    cluster.jobs.set(id, j);
    cluster.recharge({}, Charge::of(j, cluster.partitions), at);
    return cluster.jobs.at(id);
  }
  std::string over(const Job& job, Time now) const {
    const auto bounds = bounds_on(cluster, {true, true}, job);
    const auto found = used_up(bounds, cluster, job, now);
    return found ? std::string(reason_name(found->reason(cluster.tres_table()))) + ": " + found->detail(cluster.tres_table()) : "";
  }
};

TEST(Exhaustion, TheMomentIsThatAtWhichTheMinutesAreUsed) {
  World w;
  w.of_team = {{LimitKind::kGrpTresMins, "cpu", 10}};
  w.build();
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart), kTimeInfinite) << "nobody uses anything";
  const Job& job = w.start(1, 4);
  const Time end = used_up_at(w.cluster, Holder::association(2), kStart);
  EXPECT_EQ(end, kStart + seconds(150) + milliseconds(1));
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart + seconds(60)), end) << "whenever it is asked";
  EXPECT_EQ(w.over(job, end - milliseconds(2)), "");
  EXPECT_EQ(w.over(job, end), "AssocGrpCPUMinutesLimit: GrpTRESMins=cpu of account team: 10 of 10 minutes used");
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), end + seconds(1)), kTimeInfinite) << "it has passed";
  w.start(2, 4, kStart + seconds(50));
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart + seconds(50)), kStart + seconds(100) + milliseconds(1));
}

TEST(Exhaustion, WhatDecaysAsFastAsItGrowsIsNeverUsedUp) {
  World w;
  w.of_team = {{LimitKind::kGrpTresMins, "cpu", 100}};
  w.build(minutes(60));
  w.start(1, 1);  // in the end 86.6 minutes
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart), kTimeInfinite);
  const Job& second = w.start(2, 1);
  const Time end = used_up_at(w.cluster, Holder::association(2), kStart);
  ASSERT_NE(end, kTimeInfinite);
  EXPECT_EQ(w.over(second, end - seconds(1)), "");
  EXPECT_NE(w.over(second, end), "");
}

TEST(Exhaustion, GrpWallCountsTheTimeOfEachJob) {
  World w;
  w.qos.limits = {{LimitKind::kGrpWall, "", 10}};
  w.build();
  w.start(1, 4);
  const Job& second = w.start(2, 1);
  const Time end = used_up_at(w.cluster, Holder::qos("fast"), kStart);
  EXPECT_EQ(end, kStart + minutes(5) + milliseconds(1));
  EXPECT_EQ(w.over(second, end), "QOSGrpWallLimit: GrpWall of QOS fast: 10 of 10 minutes used");
}

TEST(Exhaustion, ALimitOfTheQosTakesThePlaceOfTheAssociations) {
  World w;
  w.of_team = {{LimitKind::kGrpTresMins, "cpu", 1}};
  w.qos.limits = {{LimitKind::kGrpTresMins, "cpu", 100}};
  w.build();
  const Job& job = w.start(1, 1);
  EXPECT_EQ(w.over(job, kStart + minutes(99)), "");
  EXPECT_NE(w.over(job, kStart + minutes(100)), "");
}

TEST(Exhaustion, AJobThatHasNothingOfTheTresGoesOn) {
  World w;
  w.of_team = {{LimitKind::kGrpTresMins, "mem", 0}};
  w.build();
  EXPECT_EQ(w.over(w.start(1, 1), kStart + minutes(9)), "");
}

TEST(Exhaustion, LimitsOfRootAreNone) {
  World w;
  w.of_root = {{LimitKind::kGrpTresMins, "cpu", 1}};
  w.build();
  const Job& job = w.start(1, 1);
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(1), kStart), kTimeInfinite);
  EXPECT_EQ(w.over(job, kStart + minutes(9)), "");
}

TEST(Exhaustion, TheLimitFactorOfAQosMakesAMomentOfItsOwn) {
  World w;
  w.of_team = {{LimitKind::kGrpTresMins, "cpu", 10}};
  w.qos.limit_factor = 2;
  w.build();
  const Job& job = w.start(1, 1);
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart), kStart + minutes(10) + milliseconds(1));
  EXPECT_EQ(w.over(job, kStart + minutes(11)), "");
  EXPECT_EQ(used_up_at(w.cluster, Holder::association(2), kStart + minutes(11)), kStart + minutes(20) + milliseconds(1));
  EXPECT_NE(w.over(job, kStart + minutes(20)), "");
}

TEST(Exhaustion, EachJobHasTheMinutesOfMaxTresMins) {
  World w;
  w.of_alice = {{LimitKind::kMaxTresMinsPerJob, "cpu", 10}};
  w.qos.usage_factor = 0.5;
  w.build();
  const Job& job = w.start(1, 4);
  const auto bounds = bounds_on(w.cluster, {true, true}, job);
  const Time end = uses_up_own_at(bounds, w.cluster, job);
  EXPECT_EQ(end, kStart + minutes(5) + milliseconds(1));
  EXPECT_EQ(w.over(job, end - seconds(1)), "");
  EXPECT_EQ(w.over(job, end),
            "AssocMaxCpuMinutesPerJobLimit: MaxTRESMins=cpu of user alice in account team: the job has used 10 of 10 minutes");
  Job asleep = job;
  asleep.state = JobState::kSuspended;
  EXPECT_EQ(uses_up_own_at(bounds, w.cluster, asleep), kTimeInfinite);
}

}  // namespace
}  // namespace muster::acct
