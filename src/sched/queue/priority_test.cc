#include "sched/queue/priority.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'200);  // a multiple of the five minutes of PriorityCalcPeriod

struct Case {
  Cluster cluster = a_cluster().nodes(4).cpus(8).memory(1000).gres("gpu", "h100", 2).build();
  PriorityParams params;
  Case() { params.multifactor = true; }
  void add_high_partition() {
    Partition p = *cluster.partitions.find(0);
    p.name = "high";
    p.priority_job_factor = 4;
    ClusterBuilder::add_partition(cluster, p);
  }
  uint32_t at(const JobBuilder& b, Time now, uint32_t flags = 0) {
    Job job = cluster.jobs.at(submit(cluster, b, kNow).value);
    job.flags |= flags;
    return PriorityRule(cluster, params, now).of(job);
  }
};

TEST(Priority, BasicHeldAndFixedNumbersDoNotMove) {
  Case c;
  c.params.weight_age = 1000;
  EXPECT_EQ(c.at(a_job().priority(0), kNow + minutes(50)), 0u);
  EXPECT_EQ(c.at(a_job().priority(77), kNow + minutes(50), kJobPriorityFixed), 77u);
  c.params.multifactor = false;
  EXPECT_EQ(c.at(a_job().priority(77), kNow + minutes(50)), 77u);
}

TEST(Priority, AgeGrowsInStepsUpToItsWeight) {
  Case c;
  c.params.weight_age = 1000;
  c.params.max_age = minutes(100);
  EXPECT_EQ(c.at(a_job(), kNow), 1u);  // never 0: that is held
  EXPECT_EQ(c.at(a_job(), kNow + minutes(50)), 500u);
  EXPECT_EQ(c.at(a_job(), kNow + minutes(54)), 500u);
  EXPECT_EQ(c.at(a_job(), kNow + minutes(55)), 550u);
  EXPECT_EQ(c.at(a_job(), kNow + minutes(500)), 1000u);
  EXPECT_EQ(c.at(a_job().with([](JobRequest& r) { r.nice = 100; }), kNow + minutes(50)), 400u);
  EXPECT_EQ(c.at(a_job().with([](JobRequest& r) { r.site_factor = 70; }), kNow + minutes(50)), 570u);
}

TEST(Priority, SizeOfTheJob) {
  Case c;
  c.params.weight_job_size = 1000;
  EXPECT_EQ(c.at(a_job().nodes(4).tasks(32), kNow), 1000u);
  EXPECT_EQ(c.at(a_job().nodes(4).tasks(16), kNow), 750u);  // all nodes, half of the CPUs
  EXPECT_EQ(c.at(a_job().nodes(1), kNow), 140u);            // 1 of 4 and 1 of 32, half each
  c.params.favor_small = true;
  EXPECT_EQ(c.at(a_job().nodes(1), kNow), 1000u);
  EXPECT_EQ(c.at(a_job().nodes(4).tasks(32), kNow), 140u);
  c.params.small_relative_to_time = true;
  EXPECT_EQ(c.at(a_job().tasks(32).minutes(1), kNow), 1000u);
  EXPECT_EQ(c.at(a_job().tasks(16).minutes(10), kNow), 50u);
}

TEST(Priority, WithIncrOnlyItIsAtLeastWhatWasKept) {
  Case c;
  c.add_high_partition();
  c.params.weight_partition = 1000;
  c.params.weight_age = 1000;
  c.params.max_age = minutes(100);
  const JobBuilder kept = a_job().priority(600);
  EXPECT_EQ(c.at(kept, kNow), 250u);
  c.params.only_up = true;
  EXPECT_EQ(c.at(kept, kNow), 600u);
  EXPECT_EQ(c.at(kept, kNow + minutes(50)), 750u);
  EXPECT_EQ(c.at(a_job().priority(1), kNow), 250u) << "none was kept";
  const Job& job = c.cluster.jobs.at(submit(c.cluster, kept, kNow).value);
  EXPECT_EQ(PriorityRule(c.cluster, c.params, kNow).factors(job, 1).priority, 1350u);  // 750 more, as that partition adds
}

TEST(Priority, PartitionsAndTheirFactor) {
  Case c;
  c.add_high_partition();
  c.params.weight_partition = 1000;
  EXPECT_EQ(c.at(a_job(), kNow), 250u);
  EXPECT_EQ(c.at(a_job().in(1), kNow), 1000u);
  c.params.raw_partition = true;
  EXPECT_EQ(c.at(a_job().in(1), kNow), 4000u);
}

TEST(Priority, TresAreThePartOfThePartitionThatIsAskedFor) {
  Case c;
  c.params.weight_tres = {
      {TresName::of("cpu"), 1000}, {TresName::of("mem"), 100}, {TresName::of("gres/gpu"), 10000}, {TresName::of("gres/gpu:h100"), 1}};
  EXPECT_EQ(c.at(a_job().tasks(16), kNow), 500u);
  EXPECT_EQ(c.at(a_job().nodes(2).mem(500), kNow), 62u + 25u);  // 2 CPUs of 32
  EXPECT_EQ(c.at(a_job().nodes(2).gpus(2), kNow), 62u + 5000u);
  c.params.raw_tres = true;
  EXPECT_EQ(c.at(a_job().tasks(3), kNow), 3000u);
}

// Jobs of one class that age: who is eligible first stays first, and the head of a class with a better partition
// overtakes when its time has come.
TEST(Priority, ThePlannerFollowsTheClock) {
  Case c;
  Partition p = *c.cluster.partitions.find(0);
  p.name = "high";
  p.priority_job_factor = 2;
  ClusterBuilder::add_partition(c.cluster, p);
  Params params;
  params.priority = c.params;
  params.priority.weight_age = 1000;
  params.priority.max_age = minutes(100);
  params.priority.weight_partition = 400;  // 200 apart: twenty minutes of age
  submit(c.cluster, a_job().nodes(4).exclusive().minutes(1000), kNow - minutes(100));
  Planner planner;
  apply_starts(c.cluster, planner.plan(c.cluster, params, kNow, Pass::kFull), kNow);
  const JobId old = submit(c.cluster, a_job().nodes(4).exclusive(), kNow);
  const JobId high = submit(c.cluster, a_job().nodes(4).exclusive().in(1), kNow + minutes(15));
  const JobId late = submit(c.cluster, a_job().nodes(4).exclusive().in(1), kNow + minutes(25));
  auto expected = [&](Time now, JobId id) { return verdict_of(planner.plan(c.cluster, params, now, Pass::kFull), id)->expected_start; };
  const Time now = kNow + minutes(30);
  EXPECT_LT(expected(now, high), expected(now, old));
  EXPECT_LT(expected(now, old), expected(now, late));
}

// Guide priority_multifactor: PartitionA with PriorityJobFactor=20 and PartitionB with 10, PriorityWeightPartition=5000.
TEST(Priority, TheExampleOfTheGuide) {
  Case c;
  c.params.weight_partition = 5000;
  Partition a = *c.cluster.partitions.find(0), b = a;
  a.priority_job_factor = 20;
  b.index = 1;
  b.name = "b";
  b.priority_job_factor = 10;
  c.cluster.partitions.set(0, a);
  c.cluster.partitions.set(1, b);
  const Job job = c.cluster.jobs.at(submit(c.cluster, a_job(), kNow).value);
  auto weighted = [&](uint32_t partition) { return PriorityRule(c.cluster, c.params, kNow).factors(job, partition).partition.weighted; };
  EXPECT_EQ(weighted(0), 5000);
  EXPECT_EQ(weighted(1), 2500);
  c.params.raw_partition = true;
  EXPECT_EQ(weighted(0), 100'000);
  EXPECT_EQ(weighted(1), 50'000);
}

TEST(Priority, LicencesAreWeighedAgainstThoseOfTheCluster) {
  Case c;
  c.params.weight_tres = {{TresName::of("license/matlab"), 1000}};
  c.params.licenses = {{"matlab", 8}};
  EXPECT_EQ(c.at(a_job().with([](JobRequest& r) { r.licenses = "matlab:2"; }), kNow), 250u);
  EXPECT_EQ(c.at(a_job().with([](JobRequest& r) { r.licenses = "matlab:2|other:1"; }), kNow), 1u) << "none of them is sure";
}

TEST(Priority, AJobThatWaitsForItsTurnDoesNotAge) {
  Case c;
  c.params.weight_age = 1000;
  c.params.max_age = minutes(100);
  const uint32_t id = submit(c.cluster, a_job(), kNow).value;
  Job job = c.cluster.jobs.at(id);
  auto at = [&](Time now) { return PriorityRule(c.cluster, c.params, now).of(job); };
  job.accrues = kTimeInfinite;
  EXPECT_EQ(at(kNow + minutes(50)), 1u);
  job.accrues = kNow + minutes(20);
  EXPECT_EQ(at(kNow + minutes(50)), 300u);
  c.params.accrue_always = true;
  EXPECT_EQ(at(kNow + minutes(50)), 500u);
}

TEST(Priority, OfRunningJobsMovesWhereTheSiteSaysSo) {
  Case c;
  c.params.weight_age = 1000;
  c.params.max_age = minutes(100);
  Job job = c.cluster.jobs.at(submit(c.cluster, a_job().priority(7), kNow).value);
  job.state = JobState::kRunning;
  EXPECT_EQ(PriorityRule(c.cluster, c.params, kNow + minutes(50)).of(job), 7u);
  c.params.of_running = true;
  EXPECT_EQ(PriorityRule(c.cluster, c.params, kNow + minutes(50)).of(job), 500u);
  job.state = JobState::kCompleted;
  EXPECT_EQ(PriorityRule(c.cluster, c.params, kNow + minutes(50)).of(job), 7u);
}

}  // namespace
}  // namespace muster::sched
