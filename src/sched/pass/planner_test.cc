#include <gtest/gtest.h>

#include "model/account_directory.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'000);

Plan quick(Cluster& c, const Params& params = {}) { return Planner().plan(c, params, kNow, Pass::kQuick); }
Plan full(Cluster& c, const Params& params = {}) { return Planner().plan(c, params, kNow, Pass::kFull); }

TEST(Planner, StartsWhatFitsInOrderOfPriority) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  JobId low = submit(c, a_job().tasks(3).priority(10));
  JobId high = submit(c, a_job().tasks(3).priority(20));
  Plan p = quick(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, high);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].cpus.to_ranges(), "0-2");
  EXPECT_EQ(p.starts[0].allocation->nodes[0].tasks, 3u);
  ASSERT_TRUE(verdict_of(p, low));
  EXPECT_EQ(verdict_of(p, low)->reason, Reason::kResources);
  EXPECT_TRUE(still_fits(c, {}, *c.jobs.at(high.value).request, p.starts[0], from_unix(1000000), 60));
}

// An administrator gave the second one its priority; the first one's grows with its age. They ask for the same.
TEST(Planner, AFixedPriorityStandsAboveOneThatGrows) {
  Params params;
  params.priority.multifactor = true;
  for (const auto by : {PreemptRules::By::kNothing, PreemptRules::By::kQos}) {
    params.preempt.by = by;
    Cluster c = a_cluster().nodes(1).cpus(4).build();
    submit(c, a_job().tasks(3).priority(1));
    const JobId fixed = submit(c, a_job().tasks(3).priority(1000));
    c.jobs.edit(fixed.value)->flags |= kJobPriorityFixed;
    const Plan p = quick(c, params);
    ASSERT_EQ(p.starts.size(), 1u);
    EXPECT_EQ(p.starts[0].job, fixed);
  }
}

TEST(Planner, TheFirstThatWaitsSaysResourcesTheNextPriority) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  Params params;
  params.backfill = false;
  JobId running = submit(c, a_job().nodes(1).exclusive());
  apply_starts(c, quick(c, params), kNow);
  ASSERT_EQ(c.jobs.at(running.value).state, JobState::kRunning);
  JobId first = submit(c, a_job().nodes(2).exclusive());
  JobId second = submit(c, a_job().tasks(1));
  Plan p = full(c, params);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, first)->reason, Reason::kResources);
  EXPECT_EQ(verdict_of(p, second)->reason, Reason::kPriority);
}

TEST(Planner, AJobOnThePartlyUsedNodeLeavesTheIdleOneWhole) {
  Cluster c = a_cluster().nodes(3).cpus(8).build();
  submit(c, a_job().tasks(3).nodelist("n1"));
  apply_starts(c, quick(c), kNow);
  submit(c, a_job().tasks(2));
  Plan p = quick(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].node.value, 1u);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].cpus.to_ranges(), "3-4");
}

TEST(Planner, HeldJobsKeepTheirReason) {
  Cluster c = a_cluster().build();
  JobId user = submit(c, a_job().priority(0)), admin = submit(c, a_job().priority(0));
  c.jobs.edit(user.value)->reason = Reason::kJobHeldUser;
  c.jobs.edit(admin.value)->reason = Reason::kJobHeldAdmin;
  Plan p = full(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, user)->reason, Reason::kJobHeldUser);
  EXPECT_EQ(verdict_of(p, admin)->reason, Reason::kJobHeldAdmin);
}

TEST(Planner, BeginTimeAndDependencyWait) {
  Cluster c = a_cluster().cpus(4).build();
  JobId later = submit(c, a_job().with([](JobRequest& r) { r.begin = kNow + seconds(60); }));
  JobId dependent = submit(c, a_job());
  auto deps = std::make_shared<Dependencies>();
  deps->list.push_back({DependencyType::kAfterOk, JobId(1), kNoArrayTask, 0, DependencyState::kUnfulfilled});
  c.jobs.edit(dependent.value)->dependencies = deps;
  Planner planner;
  Plan p = planner.plan(c, {}, kNow, Pass::kFull);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, later)->reason, Reason::kBeginTime);
  EXPECT_EQ(verdict_of(p, later)->expected_start, kNow + seconds(60));
  EXPECT_EQ(verdict_of(p, dependent)->reason, Reason::kDependency);
  p = planner.plan(c, {}, kNow + seconds(60), Pass::kQuick);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, later);
}

TEST(Planner, ArrayTasksStartUpToTheLimit) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  JobId id = submit_array(c, a_job().tasks(1), 10, 3);
  Planner planner;
  Plan p = planner.plan(c, {}, kNow, Pass::kFull);
  ASSERT_EQ(p.starts.size(), 3u);
  EXPECT_EQ(p.starts[2].array_task, 2u);
  EXPECT_EQ(verdict_of(p, id)->reason, Reason::kJobArrayTaskLimit);
  apply_starts(c, p, kNow);
  p = planner.plan(c, {}, kNow, Pass::kFull);
  EXPECT_TRUE(p.starts.empty());
}

TEST(Planner, UnusableNodesAreLeftAloneAndNamed) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  c.nodes.edit(0)->flags = kNodeDrain;
  JobId named = submit(c, a_job().tasks(1).nodelist("n0"));
  JobId free = submit(c, a_job().tasks(1));
  Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, free);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].node.value, 1u);
  EXPECT_EQ(verdict_of(p, named)->reason, Reason::kReqNodeNotAvail);
  EXPECT_EQ(verdict_of(p, named)->detail, "ReqNodeNotAvail, UnavailableNodes:n0");
}

TEST(Planner, PoweredDownNodesComeLastAndAskForPower) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  c.nodes.edit(0)->flags = kNodeCloud | kNodePowerSave | kNodePoweredDown;
  c.nodes.edit(0)->hardware = nullptr;
  submit(c, a_job().nodes(1).exclusive());
  submit(c, a_job().nodes(1).exclusive());
  Plan p = quick(c);
  ASSERT_EQ(p.starts.size(), 2u);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].node.value, 1u);
  EXPECT_FALSE(p.starts[0].needs_power_up);
  EXPECT_EQ(p.starts[1].allocation->nodes[0].node.value, 0u);
  EXPECT_TRUE(p.starts[1].needs_power_up);
}

TEST(Planner, PartitionRulesHoldJobsBack) {
  Cluster c = a_cluster()
                  .nodes(4)
                  .cpus(4)
                  .partition([](Partition& p) {
                    p.max_nodes = 2;
                    p.max_time_min = 60;
                  })
                  .build();
  JobId wide = submit(c, a_job().nodes(3)), slow = submit(c, a_job().tasks(1).minutes(61)), good = submit(c, a_job().tasks(1));
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, wide)->reason, Reason::kPartitionNodeLimit);
  EXPECT_EQ(verdict_of(p, slow)->reason, Reason::kPartitionTimeLimit);
  EXPECT_TRUE(start_of(p, good));
  c.partitions.edit(0)->state = PartitionState::kDown;
  p = full(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, good)->reason, Reason::kPartitionDown);
  c.partitions.edit(0)->state = PartitionState::kInactive;
  EXPECT_EQ(verdict_of(full(c), good)->reason, Reason::kPartitionInactive);
  c.partitions.edit(0)->state = PartitionState::kUp;
  const Bitmap nodes = std::exchange(c.partitions.edit(0)->nodes, {});
  ++c.nodes_epoch;
  p = full(c);
  for (JobId id : {wide, slow, good}) EXPECT_EQ(verdict_of(p, id)->reason, Reason::kPartitionConfig);
  c.partitions.edit(0)->nodes = nodes;
  ++c.nodes_epoch;
  EXPECT_TRUE(start_of(full(c), good));
}

TEST(Planner, GpusComeOnceEach) {
  Cluster c = a_cluster().nodes(1).cpus(16).gres("gpu", "h100", 8).build();
  submit(c, a_job().gpus(3));
  submit(c, a_job().gpus(5));
  JobId third = submit(c, a_job().gpus(1));
  Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 2u);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].gres[0].devices.to_ranges(), "0-2");
  EXPECT_EQ(p.starts[1].allocation->nodes[0].gres[0].devices.to_ranges(), "3-7");
  EXPECT_EQ(p.starts[1].allocation->nodes[0].gres[0].type, "h100");
  EXPECT_EQ(verdict_of(p, third)->reason, Reason::kResources);
}

// One job ended and another began between two passes: the counts are the same, but a GPU is free again.
TEST(Planner, WhatCameBackIsSeenThoughAsMuchWasTaken) {
  Cluster c = a_cluster().cpus(4).gres("gpu", "", 1).gres("nic", "", 1).build();
  Planner kept;
  const JobId first = submit(c, a_job().tasks(1).gpus(1), kNow);
  apply_starts(c, kept.plan(c, {}, kNow, Pass::kQuick), kNow);
  const JobId waits = submit(c, a_job().tasks(1).gpus(1), kNow);
  EXPECT_FALSE(start_of(kept.plan(c, {}, kNow, Pass::kQuick), waits));
  end_job(c, first, kNow);
  submit(c, a_job().tasks(1).gres("gres/nic:1").priority(9999), kNow);
  const Plan other = Planner().plan(c, {}, kNow, Pass::kQuick);
  apply_start(c, other.starts.at(0), kNow);
  EXPECT_TRUE(start_of(kept.plan(c, {}, kNow, Pass::kQuick), waits));
}

// Of its x nodes such a job takes the one with the least to spare, which is too small; when another job has filled
// that one it takes the next. A start ahead of it in the same pass is reason enough to look again.
TEST(Planner, WhatFitsOnlyAfterMoreWasTakenIsTriedInTheSamePass) {
  uint32_t next = 0;
  Cluster c = a_cluster()
                  .nodes(3)
                  .node([&](Node&, NodeSpec& s) {
                    s.features = {next < 2 ? "x" : "y"};
                    s.cpus = s.cores_per_socket = next++ == 0 ? 2 : 4;
                  })
                  .build();
  Planner kept;
  const JobId waits = submit(c, a_job().nodes(2).tasks(8).on("[x*1&y*1]"), kNow);
  EXPECT_FALSE(start_of(kept.plan(c, {}, kNow, Pass::kQuick), waits));
  submit(c, a_job().tasks(2).priority(9999), kNow);
  const Plan fresh = Planner().plan(c, {}, kNow, Pass::kQuick);
  ASSERT_TRUE(start_of(fresh, waits));
  EXPECT_TRUE(start_of(kept.plan(c, {}, kNow, Pass::kQuick), waits));
}

TEST(Planner, AUsersCpusInAPartitionAreLimited) {
  Cluster c = a_cluster().nodes(2).cpus(8).partition([](Partition& p) { p.max_cpus_per_user = 6; }).build();
  submit(c, a_job().tasks(4).user(7));
  JobId over = submit(c, a_job().tasks(4).user(7)), other = submit(c, a_job().tasks(4).user(8));
  Plan p = full(c);
  EXPECT_EQ(p.starts.size(), 2u);
  EXPECT_TRUE(start_of(p, other));
  EXPECT_EQ(verdict_of(p, over)->reason, Reason::kQOSMaxCpuPerUserLimit);
}

TEST(Planner, OnePartitionIsFullTheNextHasRoom) {
  Cluster c = a_cluster()
                  .nodes(2)
                  .cpus(4)
                  .partition([](Partition& p) {
                    p.nodes = Bitmap();
                    p.nodes.set(0);
                  })
                  .build();
  Partition second;
  second.name = "second";
  second.nodes.set(1);
  ClusterBuilder::add_partition(c, second);
  submit(c, a_job().nodes(1).exclusive());
  JobId both = submit(c, a_job().nodes(1).exclusive().with([](JobRequest& r) { r.partitions = {"main", "second"}; }));
  JobId third = submit(c, a_job().nodes(1).exclusive().with([](JobRequest& r) { r.partitions = {"main", "second"}; }));
  Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 2u);
  EXPECT_EQ(start_of(p, both)->partition, 1u);
  EXPECT_EQ(start_of(p, both)->allocation->nodes[0].node.value, 1u);
  size_t said = 0;
  for (const auto& [id, v] : p.verdicts) said += id == third;
  EXPECT_EQ(said, 1u);
}

TEST(Planner, AHigherTierGoesFirst) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  Partition urgent;
  urgent.name = "urgent";
  urgent.priority_tier = 10;
  urgent.nodes.set(0);
  ClusterBuilder::add_partition(c, urgent);
  submit(c, a_job().tasks(4).priority(9999));
  JobId first = submit(c, a_job().tasks(4).priority(1).in(1));
  Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, first);
}

TEST(Planner, AQuickPassLeavesTheNodesOfAWaitingJobAlone) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  Partition low;
  low.name = "low";
  low.priority_tier = 0;
  low.nodes = Bitmap(2, true);
  ClusterBuilder::add_partition(c, low);
  submit(c, a_job().nodes(1).exclusive());
  apply_starts(c, quick(c), kNow);
  submit(c, a_job().nodes(2).exclusive());
  submit(c, a_job().tasks(1).in(1).minutes(1000));
  EXPECT_TRUE(quick(c).starts.empty());
}

TEST(Planner, ADeadlineThatCannotBeMet) {
  Cluster c = a_cluster().cpus(4).build();
  JobId late = submit(c, a_job().minutes(60).with([](JobRequest& r) { r.deadline = kNow + minutes(59); }));
  JobId fine = submit(c, a_job().minutes(60).with([](JobRequest& r) { r.deadline = kNow + minutes(60); }));
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, late)->reason, Reason::kDeadLine);
  EXPECT_TRUE(start_of(p, fine));
}

TEST(CanEverRun, NamesTheRuleThatForbids) {
  Cluster c = a_cluster().nodes(4).cpus(8).gres("gpu", "h100", 8).features({"fast"}).build();
  auto why = [&](const JobBuilder& j) { return can_ever_run(c, {}, j.request, 0); };
  EXPECT_TRUE(why(a_job().nodes(4).tasks(32)));
  EXPECT_TRUE(why(a_job().gpus(8).on("fast")));
  EXPECT_EQ(why(a_job().nodes(5)).error().code, Errc::kInvalidNodeCount);
  EXPECT_EQ(why(a_job().tasks(33)).error().code, Errc::kTooManyRequestedCpus);
  EXPECT_EQ(why(a_job().gpus(9)).error().code, Errc::kRequestedNodeConfigUnavailable);
  EXPECT_NE(why(a_job().gpus(9)).error().hint.find("4 have too few devices for one task"), std::string::npos);
  EXPECT_EQ(why(a_job().on("slow")).error().code, Errc::kInvalidFeature);
  EXPECT_EQ(why(a_job().gres("fpga:1")).error().code, Errc::kInvalidGres);
  EXPECT_EQ(why(a_job().nodelist("n9")).error().code, Errc::kInvalidNodeName);
}

// A magnetic reservation that nobody asked for hides nothing: not that its user has reached a limit, whether it begins later or is full.
TEST(Planner, WhyAJobCannotBeInAMagneticReservationIsNotWhyItWaits) {
  for (const bool begins_later : {true, false}) {
    Cluster c = a_cluster().nodes(2).cpus(4).build();
    auto directory = std::make_shared<AccountDirectory>();
    AccountChanges changes;
    AssociationRecord own;
    own.id = 1;
    own.account = "team";
    own.user = "ann";
    own.limits = {{LimitKind::kGrpTres, "cpu", 2}};
    changes.associations = {own};
    directory->learn(changes);
    c.directory = directory;
    Reservation r;
    r.id = 1;
    r.name = "magnetic";
    r.flags = kResvMagnetic | kResvAnyNodes;
    r.start = kNow + minutes(begins_later ? 10 : -10);
    r.end = kNow + minutes(60);
    r.users.names = {"ann"};
    c.reservations.set(1, r);
    Params params;
    params.enforcement.associations = params.enforcement.limits = true;
    const JobId job = submit(c, a_job().nodes(1).cpus_per_task(3).with([](JobRequest& j) { j.user_name = "ann", j.account = "team"; }));
    const Plan p = full(c, params);
    ASSERT_TRUE(verdict_of(p, job));
    EXPECT_EQ(verdict_of(p, job)->reason, Reason::kAssocGrpCpuLimit) << begins_later;
  }
}

TEST(CanEverRun, DoesNotMindWhatIsBusyOrDown) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  c.nodes.edit(0)->admin = NodeState::kDown;
  submit(c, a_job().tasks(4));
  apply_starts(c, quick(c), kNow);
  EXPECT_TRUE(can_ever_run(c, {}, a_job().nodes(2).tasks(8).request, 0));
}

TEST(StillFits, RefusesWhatHasChanged) {
  Cluster c = a_cluster().nodes(1).cpus(4).gres("gpu", "", 2).build();
  JobId id = submit(c, a_job().tasks(2).gpus(1));
  Plan p = quick(c);
  ASSERT_EQ(p.starts.size(), 1u);
  const RequestBody& r = *c.jobs.at(id.value).request;
  EXPECT_TRUE(still_fits(c, {}, r, p.starts[0], from_unix(1000000), 60));
  Cluster drained = c;
  drained.nodes.edit(0)->flags = kNodeDrain;
  EXPECT_EQ(still_fits(drained, {}, r, p.starts[0], from_unix(1000000), 60).error().code, Errc::kNodesBusy);
  apply_starts(c, p, kNow);
  EXPECT_EQ(still_fits(c, {}, r, p.starts[0], from_unix(1000000), 60).error().code, Errc::kNodesBusy);
}

}  // namespace
}  // namespace muster::sched
