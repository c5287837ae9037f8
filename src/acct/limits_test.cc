// Each row of the table: below, at and above its limit; whose use counts; what takes its place.
#include "acct/limits.h"

#include <gtest/gtest.h>

#include <tuple>

#include "model/account_directory_testing.h"

namespace muster::acct {
namespace {

constexpr Uid kAlice{1000};

// root(1), team(2), crew(3) below it; alice(4) in crew.
struct World {
  ADirectory accounts;
  Cluster cluster;
  Partition partition;
  std::string qos = "fast";
  bool enforced = true, safe = false, multifactor = true;
  Time now = from_unix(1'700'000'000);

  // `limits` of one association, by its number.
  void limit(uint32_t association, std::vector<Limit> limits) { set_[association] = std::move(limits); }
  void limit_qos(std::vector<Limit> limits, std::optional<double> factor = {}) {
    qos_limits_ = std::move(limits);
    factor_ = factor;
  }
  void build() {
    accounts.qos("fast").account("root").account("team").account("crew", "team");
    accounts.user("alice", "crew").association("alice", "crew", {"fast"});
    rpc::Entities all = accounts.entities();
    for (AssociationRecord& a : all.associations) a.limits = set_[a.id];
    all.qos[0].limits = qos_limits_;
    all.qos[0].limit_factor = factor_;
    for (const AccountChanges& part : changes_to(nullptr, all)) cluster.learn_accounts(part);
    NodeSpec node;
    node.gres.push_back({"gpu", "h100", 8, 0, false, {}, {}, {}, 0, false});
    cluster.know_tres(tres_of(node));
    cluster.know_tres({tres_of_license("matlab")});
    partition.name = "main";
  }
  // `minutes_left`: of a job that goes on using what it has.
  void hold(uint32_t association, uint32_t cpus, uint64_t gpus = 0, Uid user = kAlice, const std::string& account = "crew",
            uint32_t minutes_left = 0) {
    Charge c;
    c.association = association;
    c.submitted = c.running = 1;
    RequestBody r;
    r.uid = user;
    r.qos = qos;
    r.account = account;
    c.request = std::make_shared<const RequestBody>(r);
    auto a = std::make_shared<Allocation>();
    NodeShare& s = a->nodes.emplace_back();
    s.cpus = Bitmap(cpus, true);
    s.mem_mb = 100;
    if (gpus) s.gres.push_back({"gpu", "h100", gpus, {}, {}});
    c.allocation = a;
    c.accrues = minutes_left > 0;
    if (c.accrues) c.due = Charge::second_of(now + minutes(minutes_left));
    cluster.recharge({}, c, now);
  }
  Wanted wants(uint64_t cpus, uint64_t gpus = 0) const {
    Wanted w;
    w.tres.add(TresTable::kCpu, cpus);
    w.tres.add(TresTable::kMem, 100);
    w.tres.add(TresTable::kNode, 1);
    if (gpus) add_gres(w.tres, cluster.tres_table(), "gpu", "h100", gpus);
    w.time_limit_min = 60;
    return w;
  }
  std::vector<Bound> bounds() {
    return bounds_on(cluster, {enforced, multifactor}, {cluster.directory->associations.find(4), "crew", qos, kAlice}, partition);
  }
  // "Reason: what is told", or "" where nothing holds it back.
  std::string ask(const Wanted& w, When when = kBeforeNodes) {
    const auto all = bounds();
    const auto over = first_exceeded(all, {cluster, cluster.ledger, now, safe}, w, when);
    if (!over) return "";
    return std::string(reason_name(over->reason(cluster.tres_table()))) + ": " + over->detail(cluster.tres_table());
  }

 private:
  std::map<uint32_t, std::vector<Limit>> set_;
  std::vector<Limit> qos_limits_;
  std::optional<double> factor_;
};

TEST(Limits, WithoutAnyNothingIsAsked) {
  World w;
  w.build();
  EXPECT_TRUE(w.bounds().empty());
}

TEST(Limits, MaxCpusPerUserOfAPartitionIsAboutWhatIsAskedFor) {
  World w;
  w.enforced = false;
  w.partition.max_cpus_per_user = 4;
  w.build();
  w.hold(0, 2);
  w.hold(0, 7, 0, Uid(1001));
  EXPECT_EQ(w.ask(w.wants(1)), "");
  EXPECT_EQ(w.ask(w.wants(2)), "");
  EXPECT_EQ(w.ask(w.wants(3)), "QOSMaxCpuPerUserLimit: MaxCPUsPerUser of partition main: 2 of 4 in use, 3 more wanted");
  EXPECT_EQ(w.ask(w.wants(3), kWithNodes), "");
  EXPECT_EQ(w.ask(w.wants(3), kWhereItStarts), "");
}

TEST(Limits, GrpTresBoundsAnAssociationAndAllAboveIt) {
  for (uint32_t whose : {4u, 3u, 2u, 1u}) {
    World w;
    w.limit(whose, {{LimitKind::kGrpTres, "cpu", 4}});
    w.build();
    w.hold(4, 2);
    EXPECT_EQ(w.ask(w.wants(1)), "") << whose;
    EXPECT_EQ(w.ask(w.wants(2)), "") << whose;
    for (When when : {kBeforeNodes, kWithNodes, kWhereItStarts})
      EXPECT_TRUE(w.ask(w.wants(3), when).starts_with("AssocGrpCpuLimit: ")) << whose;
    EXPECT_EQ(w.ask(w.wants(3), kAtSubmission), "") << whose;
    w.enforced = false;
    EXPECT_EQ(w.ask(w.wants(3)), "") << whose;
  }
  World w;
  w.limit(2, {{LimitKind::kGrpTres, "cpu", 4}});
  w.build();
  w.hold(4, 4);
  EXPECT_EQ(w.ask(w.wants(1)), "AssocGrpCpuLimit: GrpTRES=cpu of account team: 4 of 4 in use, 1 more wanted");
  EXPECT_EQ(w.ask(w.wants(0)), "") << "a job that wants none of it does not wait for it";
}

TEST(Limits, EachTresHasItsReason) {
  const std::pair<const char*, const char*> kTold[] = {
      {"cpu", "AssocGrpCpuLimit"},  {"mem", "AssocGrpMemLimit"},       {"node", "AssocGrpNodeLimit"},        {"billing", "AssocGrpBilling"},
      {"gres/gpu", "AssocGrpGRES"}, {"gres/gpu:h100", "AssocGrpGRES"}, {"license/matlab", "AssocGrpLicense"}};
  for (const auto& [tres, reason] : kTold) {
    World w;
    w.limit(3, {{LimitKind::kGrpTres, tres, 0}});
    w.build();
    Wanted all = w.wants(1, 1);
    all.tres.add(TresTable::kBilling, 1);
    add_license(all.tres, w.cluster.tres_table(), "matlab", 1);
    EXPECT_TRUE(w.ask(all).starts_with(std::string(reason) + ": GrpTRES=" + tres + " of account crew")) << w.ask(all);
  }
}

TEST(Limits, ANodeCountsOnceForAllWhoStandThere) {
  World w;
  w.limit(2, {{LimitKind::kGrpTres, "node", 2}});
  w.build();
  auto on = [&](std::initializer_list<size_t> nodes) {
    Wanted wanted = w.wants(1);
    for (size_t n : nodes) wanted.nodes.set(n);
    return wanted;
  };
  w.hold(4, 1);
  w.hold(4, 1);  // both on node 0
  EXPECT_EQ(w.ask(on({0}), kWithNodes), "");
  EXPECT_EQ(w.ask(on({0, 1}), kWithNodes), "");
  EXPECT_EQ(w.ask(on({1, 2}), kWithNodes), "AssocGrpNodeLimit: GrpTRES=node of account team: 1 of 2 in use, 2 more wanted");
  Wanted wide = w.wants(1);
  wide.tres.add(TresTable::kNode, 1);
  EXPECT_EQ(w.ask(wide), "");
  wide.tres.add(TresTable::kNode, 1);
  EXPECT_EQ(w.ask(wide), "AssocGrpNodeLimit: GrpTRES=node of account team: 1 of 2 in use, 2 more wanted");
}

TEST(Limits, OneOnATresThatNobodyHasHoldsNobodyBack) {
  World w;
  w.limit(3, {{LimitKind::kGrpTres, "gres/fpga", 0}, {LimitKind::kGrpTres, "energy", 0}});
  w.build();
  EXPECT_TRUE(w.bounds().empty());
}

TEST(Limits, GrpJobsCountsWhatRunsInTheAccountAndBelowIt) {
  World w;
  w.limit(2, {{LimitKind::kGrpJobs, "", 2}});
  w.build();
  w.hold(4, 1);
  EXPECT_EQ(w.ask(w.wants(1)), "");
  w.hold(3, 1, 0, Uid(1001));
  EXPECT_EQ(w.ask(w.wants(1)), "AssocGrpJobsLimit: GrpJobs of account team: 2 of 2 in use, 1 more wanted");
}

TEST(Limits, WhatTheQosLimitsTheAssociationDoesNot) {
  World w;
  w.limit(3, {{LimitKind::kGrpTres, "cpu", 1}, {LimitKind::kGrpTres, "gres/gpu", 1}});
  w.limit_qos({{LimitKind::kGrpTres, "cpu", 100}});
  w.build();
  EXPECT_EQ(w.ask(w.wants(5)), "");
  EXPECT_TRUE(w.ask(w.wants(5, 2)).starts_with("AssocGrpGRES")) << "another TRES is not meant";
}

TEST(Limits, LimitFactorOfTheQosScalesTresOfAssociations) {
  World w;
  w.limit(3, {{LimitKind::kGrpTres, "cpu", 4}, {LimitKind::kGrpJobs, "", 1}});
  w.limit_qos({}, 2.0);
  w.build();
  EXPECT_EQ(w.ask(w.wants(8)), "");
  EXPECT_TRUE(w.ask(w.wants(9)).starts_with("AssocGrpCpuLimit: GrpTRES=cpu of account crew: 0 of 8"));
  w.hold(4, 1);
  EXPECT_TRUE(w.ask(w.wants(1)).starts_with("AssocGrpJobsLimit")) << "it is no factor of jobs";
}

// It was lowered: those that run stay, and nobody joins them.
TEST(Limits, BelowWhatIsInUseNothingMoreStarts) {
  World w;
  w.limit(3, {{LimitKind::kGrpTres, "cpu", 2}});
  w.build();
  w.hold(4, 8);
  EXPECT_TRUE(w.ask(w.wants(1)).starts_with("AssocGrpCpuLimit: GrpTRES=cpu of account crew: 8 of 2 in use"));
}

TEST(Limits, AloneOverALimitIsNotAboutOthers) {
  World w;
  w.limit(3, {{LimitKind::kGrpTres, "cpu", 4}});
  w.build();
  w.hold(4, 4);
  const auto all = w.bounds();
  EXPECT_FALSE(first_exceeded_alone(all, w.wants(4)));
  EXPECT_TRUE(first_exceeded_alone(all, w.wants(5)));
}

TEST(Limits, OfTheJobsOfAnAccountInAQos) {
  World w;
  w.limit_qos({{LimitKind::kMaxJobsPerAccount, "", 2}, {LimitKind::kMaxTresPerAccount, "cpu", 4}});
  w.build();
  w.hold(4, 2);
  EXPECT_EQ(w.ask(w.wants(2)), "");
  EXPECT_EQ(w.ask(w.wants(3)), "MaxCpuPerAccount: MaxTRESPA=cpu of QOS fast: 2 of 4 in use, 3 more wanted");
  w.hold(4, 0, 0, Uid(1001));
  EXPECT_EQ(w.ask(w.wants(2)), "MaxJobsPerAccount: MaxJobsPA of QOS fast: 2 of 2 in use, 1 more wanted");
  World other;
  other.limit_qos({{LimitKind::kMaxTresPerAccount, "cpu", 4}, {LimitKind::kMaxSubmitJobsPerAccount, "", 1}});
  other.build();
  other.hold(2, 4, 0, kAlice, "team");
  EXPECT_EQ(other.ask(other.wants(4)), "") << "another account's jobs do not count";
  EXPECT_EQ(other.ask(other.wants(1), kAtSubmission), "");
  other.hold(4, 0);
  EXPECT_TRUE(other.ask(other.wants(1), kAtSubmission).starts_with("MaxSubmitJobsPerAccount: "));
}

TEST(Limits, MaxTresMinsIsWhatAJobTakesTimesItsLimit) {
  World w;
  w.limit(4, {{LimitKind::kMaxTresMinsPerJob, "cpu", 120}});
  w.build();
  w.hold(4, 100);
  EXPECT_EQ(w.ask(w.wants(2)), "") << "what others have is no matter";
  EXPECT_EQ(w.ask(w.wants(3)),
            "AssocMaxCpuMinutesPerJobLimit: MaxTRESMins=cpu of user alice in account crew: a job may have 120, 180 wanted");
  EXPECT_EQ(w.ask(w.wants(3), kWithNodes), w.ask(w.wants(3)));
  EXPECT_EQ(w.ask(w.wants(3), kWhereItStarts), w.ask(w.wants(3))) << "another plan may have been first";
  Wanted endless = w.wants(1);
  endless.time_limit_min = kUnlimited32;
  EXPECT_NE(w.ask(endless), "");
  World qos;
  qos.limit(4, {{LimitKind::kMaxTresMinsPerJob, "cpu", 1}});
  qos.limit_qos({{LimitKind::kMaxTresMinsPerJob, "cpu", 120}, {LimitKind::kMaxTresMinsPerJob, "gres/gpu", 60}});
  qos.build();
  EXPECT_EQ(qos.ask(qos.wants(2, 1)), "") << "the QOS's limit takes the place of the association's";
  EXPECT_TRUE(qos.ask(qos.wants(2, 2)).starts_with("QOSMaxGRESMinutesPerJob: MaxTRESMins=gres/gpu of QOS fast"))
      << qos.ask(qos.wants(2, 2));
}

TEST(Limits, MinTresIsWhatAJobHasToTake) {
  World w;
  w.limit_qos({{LimitKind::kMinTresPerJob, "cpu", 4}, {LimitKind::kMinTresPerJob, "gres/gpu", 1}});
  w.build();
  EXPECT_EQ(w.ask(w.wants(4, 1)), "");
  EXPECT_EQ(w.ask(w.wants(3, 1)), "QOSMinCpuNotSatisfied: MinTRES=cpu of QOS fast: a job has to take 4, 3 wanted");
  EXPECT_TRUE(w.ask(w.wants(4)).starts_with("QOSMinGRES: ")) << "none is less than one";
  EXPECT_TRUE(first_exceeded_alone(w.bounds(), w.wants(3, 1))) << "so DenyOnLimit refuses it";
}

TEST(Limits, GrpSubmitJobsAndMaxSubmitJobsAreAskedAtSubmission) {
  for (const auto& [whose, kind, reason] :
       {std::tuple(2u, LimitKind::kGrpSubmitJobs, "AssocGrpSubmitJobsLimit: GrpSubmitJobs of account team"),
        std::tuple(4u, LimitKind::kMaxSubmitJobs, "AssocMaxSubmitJobLimit: MaxSubmitJobs of user alice in account crew")}) {
    World w;
    w.limit(whose, {{kind, "", 3}});
    w.build();
    w.hold(4, 1);
    Wanted array = w.wants(1);
    array.jobs = 2;
    EXPECT_EQ(w.ask(array, kAtSubmission), "");
    array.jobs = 3;
    EXPECT_EQ(w.ask(array, kAtSubmission), std::string(reason) + ": 1 of 3 in use, 3 more wanted");
    EXPECT_EQ(w.ask(array, kBeforeNodes), "") << "who is there may start";
  }
}

TEST(Limits, MaxJobsIsTheAssociationsOwn) {
  World w;
  w.limit(3, {{LimitKind::kMaxJobs, "", 0}});  // for those who have it from there, and slurmdbd hands it down to them
  w.limit(4, {{LimitKind::kMaxJobs, "", 1}});
  w.build();
  EXPECT_EQ(w.ask(w.wants(1)), "");
  w.hold(4, 1);
  EXPECT_EQ(w.ask(w.wants(1)), "AssocMaxJobsLimit: MaxJobs of user alice in account crew: 1 of 1 in use, 1 more wanted");
}

TEST(Limits, MaxTresPerJobIsAboutOneJobAlone) {
  for (const bool of_qos : {false, true}) {
    World w;
    const std::vector<Limit> four = {{LimitKind::kMaxTresPerJob, "cpu", 4}};
    if (of_qos) w.limit_qos(four);
    else w.limit(4, four);
    w.build();
    w.hold(4, 100);
    EXPECT_EQ(w.ask(w.wants(3)), "");
    EXPECT_EQ(w.ask(w.wants(4)), "");
    EXPECT_EQ(w.ask(w.wants(5), kWithNodes),
              of_qos ? "QOSMaxCpuPerJobLimit: MaxTRES=cpu of QOS fast: a job may have 4, 5 wanted"
                     : "AssocMaxCpuPerJobLimit: MaxTRES=cpu of user alice in account crew: a job may have 4, 5 wanted");
  }
}

TEST(Limits, AQosCountsAllItsJobs) {
  World w;
  w.limit_qos({{LimitKind::kGrpTres, "cpu", 4}, {LimitKind::kGrpJobs, "", 2}, {LimitKind::kGrpSubmitJobs, "", 2}});
  w.build();
  w.hold(0, 3, 0, Uid(1001), "elsewhere");
  EXPECT_EQ(w.ask(w.wants(1)), "");
  EXPECT_EQ(w.ask(w.wants(2)), "QOSGrpCpuLimit: GrpTRES=cpu of QOS fast: 3 of 4 in use, 2 more wanted");
  w.hold(4, 1);
  EXPECT_EQ(w.ask(w.wants(0)), "QOSGrpJobsLimit: GrpJobs of QOS fast: 2 of 2 in use, 1 more wanted");
  EXPECT_EQ(w.ask(w.wants(1), kAtSubmission), "QOSGrpSubmitJobsLimit: GrpSubmitJobs of QOS fast: 2 of 2 in use, 1 more wanted");
  w.qos = "slow";
  EXPECT_TRUE(w.bounds().empty()) << "another QOS is not meant";
}

TEST(Limits, AQosCountsWhatOneUserHas) {
  World w;
  w.limit_qos(
      {{LimitKind::kMaxTresPerUser, "gres/gpu", 4}, {LimitKind::kMaxJobsPerUser, "", 2}, {LimitKind::kMaxSubmitJobsPerUser, "", 2}});
  w.build();
  w.hold(0, 1, 9, Uid(1001));
  w.hold(4, 1, 3);
  EXPECT_EQ(w.ask(w.wants(1, 1)), "");
  EXPECT_EQ(w.ask(w.wants(1, 2)), "QOSMaxGRESPerUser: MaxTRESPU=gres/gpu of QOS fast: 3 of 4 in use, 2 more wanted");
  w.hold(4, 1);
  EXPECT_EQ(w.ask(w.wants(1)), "QOSMaxJobsPerUserLimit: MaxJobsPU of QOS fast: 2 of 2 in use, 1 more wanted");
  EXPECT_TRUE(w.ask(w.wants(1), kAtSubmission).starts_with("QOSMaxSubmitJobPerUserLimit"));
}

TEST(Limits, MaxJobsPerUserOfTheQosTakesThePlaceOfMaxJobs) {
  World w;
  w.limit(4, {{LimitKind::kMaxJobs, "", 0}, {LimitKind::kMaxSubmitJobs, "", 0}});
  w.limit_qos({{LimitKind::kMaxJobsPerUser, "", 5}});
  w.build();
  EXPECT_EQ(w.ask(w.wants(1)), "");
  EXPECT_TRUE(w.ask(w.wants(1), kAtSubmission).starts_with("AssocMaxSubmitJobLimit"));
}

TEST(Limits, MaxWallIsAboutTheTimeLimitAlone) {
  for (const bool of_qos : {false, true}) {
    World w;
    if (of_qos) w.limit_qos({{LimitKind::kMaxWall, "", 60}});
    else w.limit(4, {{LimitKind::kMaxWall, "", 60}});
    w.build();
    Wanted job = w.wants(1);
    for (uint32_t fits : {59u, 60u}) {
      job.time_limit_min = fits;
      EXPECT_EQ(w.ask(job), "");
    }
    job.time_limit_min = 61;
    EXPECT_EQ(w.ask(job), of_qos ? "QOSMaxWallDurationPerJobLimit: MaxWall of QOS fast: a job may have 60, 61 wanted"
                                 : "AssocMaxWallDurationPerJobLimit: MaxWall of user alice in account crew: a job may have 60, 61 wanted");
    EXPECT_EQ(w.ask(job, kWhereItStarts), w.ask(job));
    job.time_limit_min = kUnlimited32;
    EXPECT_NE(w.ask(job), "");
  }
  World both;
  both.limit(4, {{LimitKind::kMaxWall, "", 10}});
  both.limit_qos({{LimitKind::kMaxWall, "", 100}});
  both.build();
  EXPECT_EQ(both.ask(both.wants(1)), "") << "the QOS's takes its place";
}

TEST(Limits, GrpTresMinsIsAboutWhatWasUsed) {
  World w;
  w.limit(2, {{LimitKind::kGrpTresMins, "cpu", 100}});
  w.build();
  w.hold(4, 4, 0, kAlice, "crew", 60);
  w.now += minutes(24);
  EXPECT_EQ(w.ask(w.wants(1)), "") << "96 minutes were used";
  w.now += minutes(1);
  EXPECT_EQ(w.ask(w.wants(1)), "AssocGrpCPUMinutesLimit: GrpTRESMins=cpu of account team: 100 of 100 minutes used");
  EXPECT_EQ(w.ask(w.wants(1), kWhereItStarts), w.ask(w.wants(1)));
}

TEST(Limits, OnWhatWasUsedTheyAreNotEnforcedOnRootNorWithoutDecay) {
  for (uint32_t whose : {1u, 2u}) {
    World w;
    w.limit(whose, {{LimitKind::kGrpTresMins, "cpu", 0}, {LimitKind::kGrpWall, "", 0}});
    w.build();
    EXPECT_EQ(w.ask(w.wants(1)).empty(), whose == 1) << whose;
    w.multifactor = false;
    EXPECT_EQ(w.ask(w.wants(1)), "") << whose;
  }
}

TEST(Limits, SafeCountsWhatJobsMayStillUse) {
  World w;
  w.safe = true;
  w.limit_qos({{LimitKind::kGrpTresMins, "cpu", 400}});
  w.build();
  w.hold(4, 4, 0, kAlice, "crew", 60);
  EXPECT_EQ(w.ask(w.wants(2)), "") << "240 of others and 120";
  EXPECT_EQ(w.ask(w.wants(3)), "QOSGrpCPUMinutesLimit: GrpTRESMins=cpu of QOS fast: 240 of 400 in use, 180 more wanted");
  w.now += minutes(30);
  EXPECT_EQ(w.ask(w.wants(3)), "QOSGrpCPUMinutesLimit: GrpTRESMins=cpu of QOS fast: 240 of 400 in use, 180 more wanted")
      << "what was used takes the place of what was to be";
}

TEST(Limits, GrpTresRunMinsIsAboutWhatRunsMayStillUse) {
  World w;
  w.limit(3, {{LimitKind::kGrpTresRunMins, "gres/gpu", 600}});
  w.build();
  w.hold(4, 1, 8, kAlice, "crew", 60);
  EXPECT_EQ(w.ask(w.wants(1, 2)), "") << "480 and 120";
  EXPECT_EQ(w.ask(w.wants(1, 3)), "AssocGrpGRESRunMinutes: GrpTRESRunMins=gres/gpu of account crew: 480 of 600 in use, 180 more wanted");
  w.now += minutes(30);
  EXPECT_EQ(w.ask(w.wants(1, 6)), "") << "240 and 360";
  w.now += minutes(60);
  EXPECT_EQ(w.ask(w.wants(1, 10)), "") << "a job past its limit may use nothing more";
}

TEST(Limits, GrpWallIsAboutHowLongJobsRan) {
  World w;
  w.limit(2, {{LimitKind::kGrpWall, "", 60}});
  w.build();
  w.hold(4, 4, 0, kAlice, "crew", 60);
  w.hold(4, 1, 0, kAlice, "crew", 60);
  w.now += minutes(29);
  EXPECT_EQ(w.ask(w.wants(1)), "");
  w.now += minutes(1);
  EXPECT_EQ(w.ask(w.wants(1)), "AssocGrpWallLimit: GrpWall of account team: 60 of 60 minutes used");
}

}  // namespace
}  // namespace muster::acct
