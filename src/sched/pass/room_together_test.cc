// Heterogeneous jobs for which others make room: all components start then, or nobody ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sched/preempt/claims.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

Params preempting(PreemptHow how = PreemptHow::kRequeue) {
  Params p;
  p.preempt.by = PreemptRules::By::kPartition;
  p.preempt.modes.how = how;
  p.preempt.modes.gang = how == PreemptHow::kSuspend;
  return p;
}

constexpr uint32_t kMain = 0, kHigh = 1;  // partitions on the same nodes, of tier 1 and 2

Cluster with_high_tier(Cluster c) {
  Partition hi = c.partitions.at(kMain);
  hi.name = "high";
  hi.is_default = false;
  hi.priority_tier = 2;
  ClusterBuilder::add_partition(c, hi);
  return c;
}

Cluster two_tiers(uint32_t nodes, OverSubscribe share = OverSubscribe::kNo) {
  return with_high_tier(a_cluster()
                            .nodes(nodes)
                            .cpus(8)
                            .memory(1000)
                            .partition([&](Partition& p) {
                              p.oversubscribe = share;
                              p.oversubscribe_count = 1;
                            })
                            .build());
}

JobBuilder whole(uint32_t nodes, uint32_t partition = kMain) { return a_job().nodes(nodes).exclusive().in(partition); }

JobId run(Cluster& c, const JobBuilder& b) {
  const JobId id = submit(c, b, kNow);
  const Plan p = Planner().plan(c, Params(), kNow, Pass::kQuick);
  const StartItem* item = start_of(p, id);
  EXPECT_NE(item, nullptr) << "job " << id.value << " does not start";
  if (item) apply_start(c, *item, kNow);
  return id;
}

std::vector<JobId> submit_together(Cluster& c, const std::vector<JobBuilder>& components) {
  std::vector<JobId> ids;
  for (const JobBuilder& b : components) ids.push_back(submit(c, b, kNow));
  join(c, ids);
  return ids;
}

Plan plan(const Cluster& c, const Params& params = preempting(), Pass pass = Pass::kFull) { return Planner().plan(c, params, kNow, pass); }

// As slurmctld's apply records it.
void claim(Cluster& c, const PreemptItem& item) {
  auto made = std::make_shared<Claim>();
  made->since = kNow;
  made->partition = item.partition;
  made->victims = item.victims;
  made->parts.push_back({item.job, item.partition, item.allocation});
  std::vector<const Allocation*> all{item.allocation.get()};
  for (const StartItem& other : item.components) {
    made->parts.push_back({other.job, other.partition, other.allocation});
    all.push_back(other.allocation.get());
  }
  made->allocation = std::make_shared<const Allocation>(held_together(all));
  c.jobs.edit(item.job.value)->turns.edit().claim = made;
  for (JobId v : item.victims) {
    JobRun& r = c.jobs.edit(v.value)->run.edit();
    r.preempted = kNow;
    r.preempted_by = item.job;
    c.jobs.edit(v.value)->ends = kNow + minutes(5);
  }
}

std::set<uint32_t> nodes_of(const AllocationPtr& a) {
  std::set<uint32_t> out;
  for (const NodeShare& s : a->nodes) out.insert(s.node.value);
  return out;
}

TEST(RoomTogether, OneClaimForAllComponents) {
  for (const Pass pass : {Pass::kQuick, Pass::kFull}) {
    Cluster c = two_tiers(4);
    for (int i = 0; i < 4; ++i) run(c, whole(1));
    const auto ids = submit_together(c, {whole(1, kHigh), whole(2, kHigh)});
    const Plan p = plan(c, preempting(), pass);
    EXPECT_TRUE(p.starts.empty());
    ASSERT_EQ(p.preemptions.size(), 1u);
    const PreemptItem& item = p.preemptions[0];
    EXPECT_EQ(item.job, ids[0]);
    EXPECT_EQ(item.victims.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(item.victims));
    EXPECT_EQ(item.allocation->nodes.size(), 1u);
    ASSERT_EQ(item.components.size(), 1u);
    EXPECT_EQ(item.components[0].job, ids[1]);
    EXPECT_EQ(item.components[0].partition, kHigh);
    EXPECT_EQ(item.components[0].allocation->nodes.size(), 2u);
    for (JobId id : ids) {
      ASSERT_TRUE(verdict_of(p, id));
      EXPECT_EQ(verdict_of(p, id)->reason, Reason::kResources);
      EXPECT_EQ(verdict_of(p, id)->detail, "jobs are ending to make room for it");
    }
  }
}

// There is room for the first of them, or room could be made, but not for the second.
TEST(RoomTogether, NobodyEndsUnlessAllWouldStart) {
  for (const JobBuilder& second : {whole(2, kHigh), whole(1, kMain)}) {
    Cluster c = two_tiers(3);
    for (int i = 0; i < 2; ++i) run(c, whole(1));
    run(c, whole(1, kHigh));  // nobody's to end
    submit_together(c, {whole(1, kHigh), second});
    const Plan p = plan(c);
    EXPECT_TRUE(p.starts.empty());
    EXPECT_TRUE(p.preemptions.empty());
  }
}

// What is known of one that finds no room is true of its equals alone.
TEST(RoomTogether, AnotherOneFindsRoomBehindThoseThatFindNone) {
  Cluster c = two_tiers(4);
  for (int i = 0; i < 4; ++i) run(c, whole(1));
  for (int i = 0; i < 2; ++i) submit_together(c, {whole(2, kHigh), whole(3, kHigh)});
  const auto other = submit_together(c, {whole(2, kHigh), whole(2, kHigh)});
  Params params = preempting();
  params.backfill = true;
  const Plan p = plan(c, params);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].job, other[0]);
}

TEST(RoomTogether, WhoIsNotNeededStays) {
  Cluster c = two_tiers(4);
  run(c, whole(2));
  const JobId small = run(c, whole(1));
  submit_together(c, {whole(1, kHigh), whole(1, kHigh)});  // one node is free
  Plan p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{small});
  c = two_tiers(2);
  const JobId only = run(c, whole(2));
  submit_together(c, {whole(1, kHigh), whole(1, kHigh)});
  p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{only}) << "one job on two nodes makes room for both";
}

TEST(RoomTogether, ComponentsMayShareANodeThatIsFreed) {
  Cluster c = two_tiers(1);
  const JobId low = run(c, a_job().tasks(8));
  submit_together(c, {a_job().tasks(4).in(kHigh), a_job().tasks(4).in(kHigh)});
  const Plan p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{low});
  EXPECT_FALSE(p.preemptions[0].allocation->nodes[0].cpus.intersects(p.preemptions[0].components[0].allocation->nodes[0].cpus));
}

Cluster two_tiers_with_gpus(uint32_t nodes, uint32_t cpus) {
  return with_high_tier(a_cluster().nodes(nodes).cpus(cpus).memory(100000).gres("gpu", "h100", 4).build());
}

// Every device once among the components.
void expect_devices_apart(const PreemptItem& item) {
  std::map<uint32_t, Bitmap> held;
  std::vector<AllocationPtr> all{item.allocation};
  for (const StartItem& other : item.components) all.push_back(other.allocation);
  for (const AllocationPtr& a : all)
    for (const NodeShare& share : a->nodes)
      for (const GresShare& g : share.gres) {
        EXPECT_FALSE(held[share.node.value].intersects(g.devices)) << "node " << share.node.value;
        held[share.node.value] |= g.devices;
      }
}

// CPUs are plenty: whoever holds the GPUs is needed, though the rest of the node is free.
TEST(RoomTogether, GpusAreMadeRoomFor) {
  Cluster c = two_tiers_with_gpus(2, 64);
  const JobId low = run(c, a_job().nodes(1).tasks(4).gpus(4));
  run(c, a_job().nodes(1).tasks(4).gpus(4).in(kHigh));  // nobody's to end
  submit_together(c, {a_job().nodes(1).tasks(1).gpus(4).in(kHigh), a_job().tasks(2).in(kHigh)});
  const JobId later = submit(c, a_job().nodes(1).tasks(1).gpus(1), kNow);
  const Plan p = plan(c);
  EXPECT_FALSE(start_of(p, later)) << "no GPU is free, whatever was tried for others";
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{low});
}

TEST(RoomTogether, ComponentsOnOneNodeHaveDevicesOfTheirOwn) {
  Cluster c = two_tiers_with_gpus(1, 8);
  const JobId low = run(c, a_job().nodes(1).tasks(8).gpus(4));
  submit_together(c, {a_job().nodes(1).tasks(4).gpus(2).in(kHigh), a_job().nodes(1).tasks(4).gpus(2).in(kHigh)});
  const Plan p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{low});
  expect_devices_apart(p.preemptions[0]);
}

// It finds no room for both: what was tried leaves the GPUs of who stays as they were.
TEST(RoomTogether, ATrialLeavesNoGpuFree) {
  Cluster c = two_tiers_with_gpus(1, 64);
  run(c, a_job().nodes(1).tasks(4).gpus(4));
  submit_together(c, {a_job().nodes(1).tasks(1).gpus(4).in(kHigh), a_job().nodes(1).tasks(1).gpus(4).in(kHigh)});
  const JobId later = submit(c, a_job().nodes(1).tasks(1).gpus(1), kNow);
  const Plan p = plan(c);
  EXPECT_TRUE(p.preemptions.empty());
  EXPECT_FALSE(start_of(p, later));
}

// One of them may end the job that runs, the other may not. So the other has to have the node that is free, whoever comes first.
TEST(RoomTogether, EachStandsInThePlaceOfThoseThatItMayEnd) {
  for (const bool high_first : {true, false}) {
    Cluster c = two_tiers(2);
    const JobId low = run(c, whole(1));
    const uint32_t taken = *nodes_of(c.jobs.at(low.value).allocation).begin();
    submit_together(c, {whole(1, high_first ? kHigh : kMain), whole(1, high_first ? kMain : kHigh)});
    const Plan p = plan(c);
    ASSERT_EQ(p.preemptions.size(), 1u) << high_first;
    const PreemptItem& item = p.preemptions[0];
    EXPECT_EQ(item.victims, std::vector<JobId>{low});
    const AllocationPtr& high = high_first ? item.allocation : item.components[0].allocation;
    const AllocationPtr& main = high_first ? item.components[0].allocation : item.allocation;
    EXPECT_EQ(nodes_of(high), std::set<uint32_t>{taken});
    EXPECT_EQ(nodes_of(main), std::set<uint32_t>{1 - taken});
  }
}

TEST(RoomTogether, NobodyIsSuspendedForThem) {
  for (const bool het : {true, false}) {
    Cluster c = two_tiers(2, OverSubscribe::kForce);
    for (int i = 0; i < 2; ++i) run(c, a_job().nodes(1).tasks(8));
    const JobBuilder high = a_job().nodes(1).tasks(8).in(kHigh);
    if (het) submit_together(c, {high, high});
    else submit(c, high, kNow);
    const Plan p = plan(c, preempting(PreemptHow::kSuspend));
    EXPECT_EQ(p.starts.size(), het ? 0u : 1u);
    EXPECT_TRUE(p.preemptions.empty());
  }
}

TEST(RoomTogether, LicencesAreReclaimedForAComponentWhereThatIsAllowed) {
  Params reclaiming = preempting(), silent = preempting();
  reclaiming.licenses = silent.licenses = {{"matlab", 4}, {"ansys", 2}};
  reclaiming.preempt.reclaim_licenses = true;
  const auto licensed = [](uint32_t partition, const char* licenses) {
    return a_job().tasks(1).in(partition).with([&](JobRequest& r) { r.licenses = licenses; });
  };
  const auto start = [&](Cluster& c, const JobBuilder& b) {
    const JobId id = submit(c, b, kNow);
    const Plan p = Planner().plan(c, reclaiming, kNow, Pass::kQuick);
    apply_start(c, *start_of(p, id), kNow);
    return id;
  };
  Cluster c = two_tiers(4);
  const JobId three = start(c, licensed(kMain, "matlab:3")), two = start(c, licensed(kMain, "ansys:2"));
  start(c, licensed(kMain, "matlab:1"));
  const std::vector<JobId> ids = submit_together(c, {licensed(kHigh, "matlab:2"), whole(1, kHigh)});
  EXPECT_TRUE(plan(c, silent).preemptions.empty());
  const Plan p = plan(c, reclaiming);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].job, ids[0]);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{three}) << "who has none of that licence stays, and who has too few";
  EXPECT_EQ(p.preemptions[0].allocation->licenses, (std::vector<LicenseShare>{{"matlab", 2}}));
  EXPECT_EQ(c.jobs.find(two.value)->state, JobState::kRunning);
  claim(c, p.preemptions[0]);  // and they start when it has gone
  end_job(c, three, kNow);
  const Plan then = plan(c, reclaiming, Pass::kQuick);
  const StartItem* item = start_of(then, ids[0]);
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->together.size(), 1u);
}

TEST(RoomTogether, WhoGoesForItsNodesGivesItsLicencesToo) {
  Params reclaiming = preempting();
  reclaiming.licenses = {{"matlab", 1}};
  reclaiming.preempt.reclaim_licenses = true;
  Cluster c = two_tiers(2);
  const JobId holds = submit(c, whole(2).with([](JobRequest& r) { r.licenses = "matlab"; }), kNow);
  apply_start(c, *start_of(Planner().plan(c, reclaiming, kNow, Pass::kQuick), holds), kNow);
  const JobBuilder lead = whole(1, kHigh).with([](JobRequest& r) { r.licenses = "matlab"; });
  const std::vector<JobId> ids = submit_together(c, {lead, whole(1, kHigh)});
  const Plan p = plan(c, reclaiming);
  ASSERT_EQ(p.preemptions.size(), 1u);
  EXPECT_EQ(p.preemptions[0].victims, std::vector<JobId>{holds});
  // One licence more than there is: nobody ends for nothing.
  Cluster d = c;
  submit_together(d, {a_job().tasks(1).in(kHigh).with([](JobRequest& r) { r.licenses = "matlab:2"; }), whole(1, kHigh)});
  EXPECT_EQ(plan(d, reclaiming).preemptions.size(), 1u);
}

TEST(RoomTogether, OnlyThoseThatHaveRunLongEnoughEnd) {
  Cluster c = two_tiers(2);
  for (int i = 0; i < 2; ++i) run(c, whole(1));
  submit_together(c, {whole(1, kHigh), whole(1, kHigh)});
  Params params = preempting();
  params.preempt.exempt = minutes(10);
  EXPECT_TRUE(plan(c, params).preemptions.empty());
  c.jobs.edit(1)->started = kNow - minutes(10);
  EXPECT_TRUE(plan(c, params).preemptions.empty()) << "one is not enough";
  c.jobs.edit(2)->started = kNow - minutes(10);
  EXPECT_EQ(plan(c, params).preemptions.size(), 1u);
}

TEST(RoomTogether, WhatIsClaimedIsTheirsAndTheyStartTogether) {
  Cluster c = two_tiers(3);
  const JobId first = run(c, whole(1)), second = run(c, whole(1));
  const auto ids = submit_together(c, {whole(1, kHigh), whole(2, kHigh)});
  Plan p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  ASSERT_EQ(p.preemptions[0].victims, (std::vector<JobId>{first, second}));
  claim(c, p.preemptions[0]);
  const JobId small = submit(c, a_job().tasks(1).in(kHigh).priority(2000), kNow);  // it comes first, and one node is idle
  p = plan(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_TRUE(p.preemptions.empty()) << "who goes already goes for them";
  for (JobId id : ids) EXPECT_EQ(verdict_of(p, id)->expected_start, kNow + minutes(5));
  end_job(c, first, kNow);
  p = plan(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_TRUE(p.released_claims.empty());
  end_job(c, second, kNow);
  p = plan(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, ids[0]);
  ASSERT_EQ(p.starts[0].together.size(), 1u);
  EXPECT_EQ(p.starts[0].together[0].job, ids[1]);
  EXPECT_EQ(start_of(p, small), nullptr);
}

TEST(RoomTogether, AClaimOfWhichOnePartFitsNoMoreIsReleased) {
  for (const bool held : {true, false}) {
    Cluster c = two_tiers(2);
    const JobId low = run(c, whole(2));
    const auto ids = submit_together(c, {whole(1, kHigh), whole(1, kHigh)});
    Plan p = plan(c);
    ASSERT_EQ(p.preemptions.size(), 1u);
    claim(c, p.preemptions[0]);
    end_job(c, low, kNow);
    if (held) {
      c.jobs.edit(ids[1].value)->priority = 0;
    } else {
      c.nodes.edit(1)->flags |= kNodeDrain;
      ++c.nodes_epoch;
    }
    p = plan(c);
    EXPECT_TRUE(p.starts.empty());
    EXPECT_EQ(p.released_claims, std::vector<JobId>{ids[0]});
    std::map<uint32_t, int> said;
    for (const auto& [id, verdict] : p.verdicts) ++said[id.value];
    for (const auto& [id, times] : said) EXPECT_EQ(times, 1) << "job " << id;
  }
}

// What the victims hold beyond what is claimed stays theirs until they are gone.
TEST(RoomTogether, TheRestOfAVictimIsNobodys) {
  Cluster c = two_tiers(1);
  const JobId low = run(c, a_job().tasks(7));
  submit_together(c, {a_job().tasks(2).in(kHigh), a_job().tasks(2).in(kHigh)});
  Plan p = plan(c);
  ASSERT_EQ(p.preemptions.size(), 1u);
  claim(c, p.preemptions[0]);
  const JobId small = submit(c, a_job().tasks(3), kNow);
  EXPECT_EQ(start_of(plan(c), small), nullptr);
  end_job(c, low, kNow);
  p = plan(c);
  EXPECT_EQ(p.starts.size(), 2u);
  EXPECT_NE(start_of(p, small), nullptr);
}

}  // namespace
}  // namespace muster::sched
