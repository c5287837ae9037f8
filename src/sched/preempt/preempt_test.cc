// Who makes room for whom, and how many. The worked examples of guide preempt are here.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/account_directory.h"
#include "sched/planner.h"
#include "sched/preempt/preempt_rule.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'000);

Params preempting(PreemptHow how = PreemptHow::kRequeue, PreemptRules::By by = PreemptRules::By::kPartition) {
  Params p;
  p.preempt.by = by;
  p.preempt.modes.how = how;
  p.preempt.modes.gang = how == PreemptHow::kSuspend;
  return p;
}

// Partition 0 "main" (tier 1) and 1 "hipri" (tier 2) on the same nodes.
Cluster two_tiers(uint32_t nodes, uint32_t cpus = 8, OverSubscribe share = OverSubscribe::kNo) {
  Cluster c = a_cluster()
                  .nodes(nodes)
                  .cpus(cpus)
                  .memory(1000)
                  .partition([&](Partition& p) {
                    p.oversubscribe = share;
                    p.oversubscribe_count = 1;
                  })
                  .build();
  Partition hi = c.partitions.at(0);
  hi.name = "hipri";
  hi.is_default = false;
  hi.priority_tier = 2;
  ClusterBuilder::add_partition(c, hi);
  return c;
}

JobId run(Cluster& c, const JobBuilder& b, const Params& params = {}, Time at = kNow) {
  const JobId id = submit(c, b, at);
  const Plan p = Planner().plan(c, params, at, Pass::kQuick);
  const StartItem* item = start_of(p, id);
  EXPECT_NE(item, nullptr) << "job " << id.value << " does not start";
  if (item) apply_start(c, *item, at);
  return id;
}

std::vector<uint32_t> victims_of(const Plan& p, JobId id) {
  std::vector<uint32_t> out;
  for (const PreemptItem& i : p.preemptions)
    if (i.job == id)
      for (JobId v : i.victims) out.push_back(v.value);
  return out;
}

std::vector<uint32_t> over(const Plan& p, JobId id) {
  std::vector<uint32_t> out;
  if (const StartItem* s = start_of(p, id))
    for (JobId v : s->over) out.push_back(v.value);
  return out;
}

std::vector<uint32_t> preempted(Cluster& c, const JobBuilder& b, const Params& params, Pass pass = Pass::kFull) {
  const JobId id = submit(c, b, kNow);
  const Plan p = Planner().plan(c, params, kNow, pass);
  std::vector<uint32_t> out = victims_of(p, id);
  return out;
}

// As slurmctld's apply records it.
void claim(Cluster& c, const PreemptItem& item) {
  auto made = std::make_shared<Claim>();
  made->since = kNow;
  made->partition = item.partition;
  made->allocation = item.allocation;
  made->victims = item.victims;
  c.jobs.edit(item.job.value)->turns.edit().claim = made;
  for (JobId v : item.victims) {
    JobRun& r = c.jobs.edit(v.value)->run.edit();
    r.preempted = kNow;
    r.preempted_by = item.job;
    c.jobs.edit(v.value)->ends = kNow + minutes(5);
  }
}

TEST(Preempt, AJobOfAHigherTierTakesTheNodeOfOne) {
  Cluster c = two_tiers(4);
  std::vector<JobId> low;
  for (int i = 0; i < 4; ++i) low.push_back(run(c, a_job().tasks(1).exclusive()));
  EXPECT_EQ(preempted(c, a_job().tasks(1).exclusive().in(1), preempting()).size(), 1u);
}

// sbatch --test-only: nobody is told to go, and who would is counted on.
TEST(Preempt, AForecastCountsOnThoseWhoWouldMakeRoom) {
  Cluster c = two_tiers(1);
  c.partitions.edit(0)->grace_time_seconds = 120;
  run(c, a_job().tasks(1).exclusive().minutes(60));
  const auto start = [&](uint32_t partition, const Params& params) {
    const std::string name = c.partitions.at(partition).name;
    const JobBuilder b = a_job().tasks(1).exclusive().minutes(10).with([&](JobRequest& r) { r.partitions = {name}; });
    const auto got = Planner().will_run(c, params, b.request, kNow);
    EXPECT_TRUE(got) << got.error().message() << got.error().hint;
    return got ? got->start : Time{};
  };
  EXPECT_GE(start(0, preempting()), kNow + minutes(59)) << "of the same tier as the one that runs";
  EXPECT_EQ(start(1, preempting()), kNow + minutes(2)) << "after the grace of the one that would go";
  EXPECT_GE(start(1, Params()), kNow + minutes(59));
}

TEST(Preempt, NobodyGoesWhereThereIsRoom) {
  Cluster c = two_tiers(4);
  for (int i = 0; i < 3; ++i) run(c, a_job().tasks(1).exclusive());
  const JobId hi = submit(c, a_job().tasks(1).exclusive().in(1), kNow);
  const Plan p = Planner().plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_TRUE(p.preemptions.empty());
  EXPECT_NE(start_of(p, hi), nullptr);
}

TEST(Preempt, NobodyGoesWhereItWouldNotHelp) {
  Cluster c = two_tiers(4);
  for (int i = 0; i < 3; ++i) run(c, a_job().tasks(1).exclusive());
  run(c, a_job().tasks(1).exclusive().in(1));  // of the same tier as the one that comes
  EXPECT_TRUE(preempted(c, a_job().nodes(4).exclusive().in(1), preempting()).empty());
}

// ---- licences
Params reclaiming(PreemptHow how = PreemptHow::kRequeue) {
  Params p = preempting(how);
  p.licenses = {{"matlab", 4}, {"ansys", 2}};
  p.preempt.reclaim_licenses = true;
  return p;
}
JobBuilder licensed(const char* licenses) {
  return a_job().tasks(1).with([&](JobRequest& r) { r.licenses = licenses; });
}

// Whom a job would preempt that comes now; it does not stay.
std::vector<uint32_t> would_preempt(Cluster c, const JobBuilder& b, const Params& params = reclaiming()) { return preempted(c, b, params); }

TEST(Preempt, LicencesAreReclaimedWhereThatIsAllowed) {
  Cluster c = two_tiers(4);
  const uint32_t holds = run(c, licensed("matlab:3"), reclaiming()).value;
  Params silent = reclaiming();
  silent.preempt.reclaim_licenses = false;
  EXPECT_TRUE(would_preempt(c, licensed("matlab:2").in(1), silent).empty());
  const JobId hi = submit(c, licensed("matlab:2").in(1), kNow);
  const Plan p = Planner().plan(c, reclaiming(), kNow, Pass::kFull);
  EXPECT_EQ(victims_of(p, hi), std::vector<uint32_t>{holds});
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].allocation->licenses, (std::vector<LicenseShare>{{"matlab", 2}}));
}

TEST(Preempt, OnlyThoseGiveUpLicencesWhoHaveThem) {
  Cluster c = two_tiers(4);
  run(c, a_job().tasks(1), reclaiming());
  run(c, licensed("ansys:1"), reclaiming());
  const uint32_t one = run(c, licensed("matlab:1"), reclaiming()).value, three = run(c, licensed("matlab:3"), reclaiming()).value;
  EXPECT_EQ(would_preempt(c, licensed("matlab:3").in(1)), std::vector<uint32_t>{three});
  EXPECT_EQ(would_preempt(c, licensed("matlab:4").in(1)), (std::vector<uint32_t>{one, three}));
  EXPECT_TRUE(would_preempt(c, licensed("ansys:3").in(1)).empty());
}

TEST(Preempt, WhoIsSuspendedKeepsItsLicencesAndAChoiceReclaimsNone) {
  Cluster c = two_tiers(4);
  run(c, licensed("matlab:4"), reclaiming());
  run(c, licensed("ansys:2"), reclaiming());
  EXPECT_TRUE(would_preempt(c, licensed("matlab:1|ansys:1").in(1)).empty());
  const JobId hi = submit(c, licensed("matlab:1").in(1), kNow);
  const Plan p = Planner().plan(c, reclaiming(PreemptHow::kSuspend), kNow, Pass::kFull);
  EXPECT_TRUE(victims_of(p, hi).empty());
  EXPECT_TRUE(over(p, hi).empty());
}

TEST(Preempt, LicencesAndNodesAreFreedTogether) {
  Cluster c = two_tiers(2);
  const uint32_t with = run(c, licensed("matlab:4").exclusive(), reclaiming()).value;
  const uint32_t without = run(c, a_job().tasks(1).exclusive(), reclaiming()).value;
  EXPECT_EQ(would_preempt(c, licensed("matlab:1").exclusive().in(1)), std::vector<uint32_t>{with});
  EXPECT_EQ(would_preempt(c, licensed("matlab:2").tasks(2).nodes(2).exclusive().in(1)), (std::vector<uint32_t>{with, without}));
}

TEST(Preempt, LicencesThatWereFreedForAJobAreKeptForIt) {
  Cluster c = two_tiers(4);
  const JobId low = run(c, licensed("matlab:1"), reclaiming());
  const JobId hi = submit(c, licensed("matlab:4").in(1), kNow);
  claim(c, Planner().plan(c, reclaiming(), kNow, Pass::kFull).preemptions.at(0));
  const JobId other = submit(c, licensed("matlab:1").in(1), kNow);
  Plan p = Planner().plan(c, reclaiming(), kNow, Pass::kFull);
  EXPECT_EQ(start_of(p, other), nullptr) << "three are free, and the job's that waits for the fourth";
  EXPECT_TRUE(p.preemptions.empty());
  end_job(c, low, kNow);
  p = Planner().plan(c, reclaiming(), kNow, Pass::kFull);
  EXPECT_NE(start_of(p, hi), nullptr);
  EXPECT_EQ(start_of(p, other), nullptr);
}

TEST(Preempt, LowerTiersDoNotPreemptHigherOnesNorEqualsEachOther) {
  Cluster c = two_tiers(1);
  run(c, a_job().tasks(1).exclusive().in(1));
  EXPECT_TRUE(preempted(c, a_job().tasks(1).exclusive(), preempting()).empty());
  EXPECT_TRUE(preempted(c, a_job().tasks(1).exclusive().in(1), preempting()).empty());
}

// Guide: "the ordered preemption candidates may be 2 node, 4 node and 8 node … possible to start the pending job after preempting only
// one job".
TEST(PreemptGuide, OneJobOfEightNodesInsteadOfThree) {
  Cluster c = two_tiers(14);
  run(c, a_job().nodes(2).exclusive());
  run(c, a_job().nodes(4).exclusive());
  const JobId eight = run(c, a_job().nodes(8).exclusive());
  EXPECT_EQ(preempted(c, a_job().nodes(8).exclusive().in(1), preempting()), std::vector<uint32_t>{eight.value});
}

// Guide, "Future Ideas": three of five nodes have a job, one of three nodes comes: it would be ideal on the free ones and one more.
TEST(PreemptGuide, FreeNodesComeFirst) {
  Cluster c = two_tiers(5, 2, OverSubscribe::kForce);
  for (int i = 0; i < 3; ++i) run(c, a_job().nodes(1).tasks(2), preempting(PreemptHow::kSuspend));
  const JobId hi = submit(c, a_job().nodes(3).tasks(6).in(1), kNow);
  const Plan p = Planner().plan(c, preempting(PreemptHow::kSuspend), kNow, Pass::kFull);
  ASSERT_NE(start_of(p, hi), nullptr);
  EXPECT_EQ(over(p, hi).size(), 1u);
}

// Guide, "A Simple Example": five jobs on five nodes, one of three nodes comes to hipri: three are suspended, two go on.
TEST(PreemptGuide, ThreeOfFiveAreSuspended) {
  Cluster c = two_tiers(5, 2, OverSubscribe::kForce);
  Params p = preempting(PreemptHow::kSuspend);
  p.linear = true;
  for (int i = 0; i < 5; ++i) run(c, a_job().nodes(1), p);
  const JobId hi = submit(c, a_job().nodes(3).in(1), kNow);
  const Plan plan = Planner().plan(c, p, kNow, Pass::kFull);
  ASSERT_NE(start_of(plan, hi), nullptr);
  EXPECT_EQ(over(plan, hi).size(), 3u);
  EXPECT_TRUE(plan.preemptions.empty());
}

// Guide, "Another Example": low is requeued, med suspended, hi left alone.
TEST(PreemptGuide, EachPartitionHasItsOwnMode) {
  Cluster c = a_cluster()
                  .nodes(1)
                  .cpus(1)
                  .partition([](Partition& p) { p.name = "low", p.priority_tier = 10, p.preempt_mode = "requeue"; })
                  .build();
  Partition med = c.partitions.at(0);
  med.name = "med", med.priority_tier = 20, med.preempt_mode = "suspend", med.oversubscribe = OverSubscribe::kForce,
  med.oversubscribe_count = 1;
  ClusterBuilder::add_partition(c, med);
  med.name = "hi", med.priority_tier = 30, med.preempt_mode = "off";
  ClusterBuilder::add_partition(c, med);
  const Params p = preempting(PreemptHow::kSuspend);
  const JobId low = run(c, a_job().tasks(1), p);
  const JobId second = submit(c, a_job().tasks(1).in(1), kNow);
  EXPECT_EQ(victims_of(Planner().plan(c, p, kNow, Pass::kFull), second), std::vector<uint32_t>{low.value});
  end_job(c, low, kNow);
  apply_starts(c, Planner().plan(c, p, kNow, Pass::kFull), kNow);
  ASSERT_EQ(c.jobs.at(second.value).state, JobState::kRunning);
  const JobId third = submit(c, a_job().tasks(1).in(2), kNow);
  EXPECT_EQ(over(Planner().plan(c, p, kNow, Pass::kFull), third), std::vector<uint32_t>{second.value});
}

TEST(Preempt, NoVictimIsNeedless) {
  Cluster c = two_tiers(2);
  for (int i = 0; i < 8; ++i) run(c, a_job().tasks(2));
  // Four CPUs of one node: two jobs of two.
  EXPECT_EQ(preempted(c, a_job().nodes(1).tasks(4).in(1), preempting()).size(), 2u);
}

TEST(Preempt, TheLowestTierGoesFirst) {
  Cluster c = two_tiers(2);
  Partition top = c.partitions.at(1);
  top.name = "top";
  top.priority_tier = 9;
  ClusterBuilder::add_partition(c, top);
  const JobId low = run(c, a_job().tasks(1).exclusive());
  run(c, a_job().tasks(1).exclusive().in(1));
  EXPECT_EQ(preempted(c, a_job().tasks(1).exclusive().in(2), preempting()), std::vector<uint32_t>{low.value});
}

TEST(Preempt, YoungestFirstGoesBeforeTiers) {
  Cluster c = two_tiers(2);
  Partition top = c.partitions.at(1);
  top.name = "top";
  top.priority_tier = 9;
  ClusterBuilder::add_partition(c, top);
  run(c, a_job().tasks(1).exclusive(), {}, kNow - minutes(30));
  const JobId young = run(c, a_job().tasks(1).exclusive().in(1), {}, kNow - minutes(1));
  Params p = preempting();
  p.preempt.youngest_first = true;
  EXPECT_EQ(preempted(c, a_job().tasks(1).exclusive().in(2), p), std::vector<uint32_t>{young.value});
}

// guide preempt: "the controller will ignore" it.
TEST(Preempt, YoungestFirstMeansNothingWithGangAndPartitions) {
  Cluster c = two_tiers(2);
  Partition top = c.partitions.at(1);
  top.name = "top";
  top.priority_tier = 9;
  ClusterBuilder::add_partition(c, top);
  const JobId low = run(c, a_job().tasks(1).exclusive(), {}, kNow - minutes(30));
  run(c, a_job().tasks(1).exclusive().in(1), {}, kNow - minutes(1));
  Params p = preempting();
  p.preempt.youngest_first = p.preempt.modes.gang = true;
  EXPECT_EQ(preempted(c, a_job().tasks(1).exclusive().in(2), p), std::vector<uint32_t>{low.value});
}

TEST(Preempt, JobsAreExemptForAWhile) {
  Cluster c = two_tiers(1);
  run(c, a_job().tasks(1).exclusive(), {}, kNow - minutes(9));
  Params p = preempting();
  p.preempt.exempt = minutes(10);
  EXPECT_TRUE(preempted(c, a_job().tasks(1).exclusive().in(1), p).empty());
  p.preempt.exempt = minutes(9);
  EXPECT_FALSE(victims_of(Planner().plan(c, p, kNow, Pass::kFull), c.last_job_id).empty());
}

TEST(Preempt, PriorityAndItsThresholdProtect) {
  Cluster c = two_tiers(1);
  run(c, a_job().tasks(1).exclusive().priority(500));
  Params p = preempting();
  p.preempt.min_exempt_priority = 500;
  EXPECT_TRUE(preempted(c, a_job().tasks(1).exclusive().priority(400).in(1), p).empty());
  p.preempt.min_exempt_priority = 501;
  EXPECT_FALSE(victims_of(Planner().plan(c, p, kNow, Pass::kFull), c.last_job_id).empty());
  p.preempt.modes.priority = true;
  EXPECT_TRUE(victims_of(Planner().plan(c, p, kNow, Pass::kFull), c.last_job_id).empty());
}

TEST(Preempt, UsersOfExclusiveNodesAndLabelsKeepApart) {
  Cluster c = two_tiers(1);
  run(c, a_job().tasks(1).user(7).with([](JobRequest& r) { r.exclusive = Exclusive::kUser; }));
  EXPECT_TRUE(preempted(c, a_job().tasks(8).user(8).in(1), preempting()).empty());
  EXPECT_EQ(preempted(c, a_job().tasks(8).user(7).in(1).priority(2000), preempting()).size(), 1u);

  Cluster labelled = two_tiers(1);
  run(labelled, a_job().tasks(1).exclusive().with([](JobRequest& r) { r.mcs_label = "red"; }));
  EXPECT_TRUE(preempted(labelled, a_job().tasks(1).in(1), preempting()).empty());
}

// What is freed for a job is its own, and nobody else goes meanwhile.
TEST(Preempt, AClaimIsHeldAndAsksForNoMore) {
  Cluster c = two_tiers(2);
  for (int i = 0; i < 2; ++i) run(c, a_job().tasks(1).exclusive());
  const JobId hi = submit(c, a_job().tasks(4).in(1), kNow);
  Planner planner;
  Plan p = planner.plan(c, preempting(), kNow, Pass::kFull);
  ASSERT_EQ(p.preemptions.size(), 1u);
  const JobId victim = p.preemptions[0].victims.at(0);
  claim(c, p.preemptions[0]);
  const JobId other = submit(c, a_job().tasks(6).in(1).priority(2000), kNow);  // of more priority: it finds its own victim
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_TRUE(victims_of(p, hi).empty());
  EXPECT_EQ(victims_of(p, other).size(), 1u);
  EXPECT_NE(victims_of(p, other), std::vector<uint32_t>{victim.value});
  const Verdict* v = verdict_of(p, hi);
  ASSERT_NE(v, nullptr);
  EXPECT_EQ(v->reason, Reason::kResources);
  EXPECT_EQ(v->expected_start, kNow + minutes(5));
  // The victim is gone: its place is the preemptor's, though the other comes first.
  end_job(c, victim, kNow);
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_NE(start_of(p, hi), nullptr);
  EXPECT_EQ(start_of(p, other), nullptr);
}

// A small job may run beside a claim, on what the victim never had, but not on the victim's rest.
TEST(Preempt, TheRestOfAVictimIsNobodysUntilItIsGone) {
  Cluster c = two_tiers(1, 8);
  const JobId victim = run(c, a_job().tasks(6));
  const JobId hi = submit(c, a_job().tasks(4).in(1), kNow);
  Planner planner;
  Plan p = planner.plan(c, preempting(), kNow, Pass::kFull);
  ASSERT_EQ(victims_of(p, hi), std::vector<uint32_t>{victim.value});
  claim(c, p.preemptions[0]);
  const JobId small = submit(c, a_job().tasks(3), kNow);
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_EQ(start_of(p, small), nullptr);
  end_job(c, victim, kNow);
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_NE(start_of(p, hi), nullptr);
  EXPECT_NE(start_of(p, small), nullptr);
}

TEST(Preempt, AClaimThatNoLongerFitsIsReleased) {
  Cluster c = two_tiers(1);
  const JobId victim = run(c, a_job().tasks(1).exclusive());
  const JobId hi = submit(c, a_job().tasks(8).in(1), kNow);
  Planner planner;
  Plan p = planner.plan(c, preempting(), kNow, Pass::kFull);
  ASSERT_EQ(p.preemptions.size(), 1u);
  claim(c, p.preemptions[0]);
  end_job(c, victim, kNow);
  c.nodes.edit(0)->flags |= kNodeDrain;
  ++c.nodes_epoch;
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_EQ(p.released_claims, std::vector<JobId>{hi});
}

// What was freed is no use any more, and others may go instead: the old claim goes before the new one is made.
TEST(Preempt, AClaimIsReleasedWhereOthersHaveToMakeRoom) {
  Cluster c = two_tiers(2);
  for (int i = 0; i < 2; ++i) run(c, a_job().tasks(1).exclusive());
  const JobId hi = submit(c, a_job().tasks(8).in(1), kNow);
  Planner planner;
  Plan p = planner.plan(c, preempting(), kNow, Pass::kFull);
  ASSERT_EQ(p.preemptions.size(), 1u);
  const JobId first = p.preemptions[0].victims.at(0);
  const uint32_t node = c.jobs.at(first.value).allocation->nodes[0].node.value;
  claim(c, p.preemptions[0]);
  end_job(c, first, kNow);
  c.nodes.edit(node)->flags |= kNodeDrain;
  ++c.nodes_epoch;
  p = planner.plan(c, preempting(), kNow, Pass::kFull);
  EXPECT_EQ(p.released_claims, std::vector<JobId>{hi});
  ASSERT_EQ(victims_of(p, hi).size(), 1u);
  EXPECT_NE(victims_of(p, hi)[0], first.value);
}

TEST(Preempt, EachTaskOfAnArrayHasItsOwnVictims) {
  Cluster c = two_tiers(3);
  for (int i = 0; i < 3; ++i) run(c, a_job().tasks(1).exclusive());
  submit_array(c, a_job().tasks(1).exclusive().in(1), 2, 0, kNow);
  const Plan p = Planner().plan(c, preempting(), kNow, Pass::kFull);
  ASSERT_EQ(p.preemptions.size(), 2u);
  EXPECT_NE(p.preemptions[0].victims, p.preemptions[1].victims);
  EXPECT_NE(p.preemptions[0].array_task, p.preemptions[1].array_task);
}

TEST(Preempt, SuspendedJobsKeepMemoryAndDevices) {
  Cluster c = two_tiers(1, 8, OverSubscribe::kForce);
  Params p = preempting(PreemptHow::kSuspend);
  p.memory_consumable = true;
  run(c, a_job().tasks(8).mem(800), p);
  const JobId big = submit(c, a_job().tasks(8).mem(300).in(1), kNow);
  EXPECT_TRUE(over(Planner().plan(c, p, kNow, Pass::kFull), big).empty());
  const JobId fits = submit(c, a_job().tasks(8).mem(200).in(1).priority(2000), kNow);
  EXPECT_EQ(over(Planner().plan(c, p, kNow, Pass::kFull), fits).size(), 1u);
}

TEST(Preempt, WithoutOverSubscribeNobodyIsSuspended) {
  Cluster c = two_tiers(1, 8);
  const Params p = preempting(PreemptHow::kSuspend);
  run(c, a_job().tasks(8), p);
  const JobId hi = submit(c, a_job().tasks(8).in(1), kNow);
  EXPECT_EQ(start_of(Planner().plan(c, p, kNow, Pass::kFull), hi), nullptr);
}

// ---- QOS
Cluster with_qos() {
  Cluster c = a_cluster().nodes(2).cpus(8).build();
  auto directory = std::make_shared<AccountDirectory>();
  auto add = [&](std::string name, std::vector<std::string> preempt, std::string mode, uint64_t grace) {
    QosRecord q;
    q.name = name;
    q.preempt = std::move(preempt);
    q.preempt_mode = mode;
    if (grace) q.limits.push_back({LimitKind::kGraceTime, {}, grace});
    directory->qos.edit(name) = q;
  };
  add("normal", {}, "", 0);
  add("standby", {}, "cancel", 30);
  add("urgent", {"normal", "standby"}, "", 0);
  add("team", {}, "requeue,within", 0);
  c.directory = directory;
  return c;
}
JobBuilder of_qos(std::string qos) {
  return a_job().tasks(1).exclusive().with([&](JobRequest& r) { r.qos = qos; });
}

TEST(PreemptQos, OnlyThoseThatTheQosNames) {
  Cluster c = with_qos();
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  run(c, of_qos("team"), p);
  const JobId normal = run(c, of_qos("normal"), p);
  EXPECT_TRUE(preempted(c, of_qos("standby"), p).empty());
  EXPECT_EQ(preempted(c, of_qos("urgent"), p), std::vector<uint32_t>{normal.value});
}

TEST(PreemptQos, OfAHeterogeneousJobTheQosOfEachComponentSaysIt) {
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  for (const std::string other : {"urgent", "normal"}) {
    Cluster c = with_qos();
    const JobId normal = run(c, of_qos("normal"), p), standby = run(c, of_qos("standby"), p);
    const JobId leader = submit(c, of_qos("urgent"), kNow);
    join(c, {leader, submit(c, of_qos(other), kNow)});
    const std::vector<uint32_t> both{normal.value, standby.value};
    EXPECT_EQ(victims_of(Planner().plan(c, p, kNow, Pass::kFull), leader), other == "urgent" ? both : std::vector<uint32_t>());
  }
}

TEST(PreemptQos, WithinAQosByPriorityOnly) {
  Cluster c = with_qos();
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  run(c, of_qos("team").priority(500), p);
  const JobId low = run(c, of_qos("team").priority(400), p);
  EXPECT_TRUE(preempted(c, of_qos("team").priority(400), p).empty());
  EXPECT_EQ(preempted(c, of_qos("team").priority(450), p), std::vector<uint32_t>{low.value});
}

TEST(PreemptQos, TheQosSaysHowAndHowLong) {
  Cluster c = with_qos();
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  const JobId standby = run(c, of_qos("standby"), p), normal = run(c, of_qos("normal"), p);
  const PreemptRule rule(c, p.preempt, kNow);
  EXPECT_EQ(rule.how(c.jobs.at(standby.value)), PreemptHow::kCancel);
  EXPECT_EQ(rule.grace(c.jobs.at(standby.value)), seconds(30));
  EXPECT_EQ(rule.how(c.jobs.at(normal.value)), PreemptHow::kRequeue);
  EXPECT_EQ(rule.grace(c.jobs.at(normal.value)), Duration());
}

// Guide priority_multifactor: jobs that can preempt are looked at before others.
TEST(PreemptQos, JobsThatCanPreemptGoFirst) {
  Cluster c = with_qos();
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  run(c, of_qos("team"), p);
  const JobId normal = submit(c, of_qos("normal").priority(9000), kNow), urgent = submit(c, of_qos("urgent").priority(10), kNow);
  const Plan plan = Planner().plan(c, p, kNow, Pass::kFull);
  EXPECT_NE(start_of(plan, urgent), nullptr);
  EXPECT_EQ(start_of(plan, normal), nullptr);
}

// A job that may not be requeued is cancelled.
TEST(PreemptQos, NoRequeueMeansCancel) {
  Cluster c = with_qos();
  const Params p = preempting(PreemptHow::kRequeue, PreemptRules::By::kQos);
  const JobId stays = run(c, of_qos("normal").with([](JobRequest& r) { r.qos = "normal", r.requeue = TriState::kNo; }), p);
  EXPECT_EQ(PreemptRule(c, p.preempt, kNow).how(c.jobs.at(stays.value)), PreemptHow::kCancel);
}

}  // namespace
}  // namespace muster::sched
