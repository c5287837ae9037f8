#include "sched/supply/partition_limit.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

Bitmap cpus(const char* ranges) {
  Bitmap out;
  EXPECT_TRUE(Bitmap::parse_ranges(ranges, out));
  return out;
}

TEST(PartitionLimit, CountsNodeAndSockets) {
  const PartitionLimit node{3, kUnlimited32}, socket{kUnlimited32, 2}, both{3, 2};
  EXPECT_EQ(node.left(2, 8, cpus("0,4")), 1u);
  EXPECT_EQ(socket.left(2, 8, cpus("0-1,4")), 1u);
  EXPECT_EQ(both.left(2, 8, Bitmap()), 3u);
  EXPECT_FALSE(PartitionLimit{}.concerns());
  EXPECT_TRUE(socket.allows(2, 8, cpus("0,4"), cpus("1,5")));
  EXPECT_FALSE(socket.allows(2, 8, cpus("0-1"), cpus("2")));
  EXPECT_FALSE(node.allows(2, 8, cpus("0-1"), cpus("4-5")));
}

// The plan was made before another job of the partition started: it does not fit any more, in another partition it would.
TEST(PartitionLimit, IsCheckedAgainAtTheStart) {
  Cluster c = a_cluster().cpus(4).partition([](Partition& p) { p.max_cpus_per_node = 2; }).build();
  Partition other = c.partitions.at(0);
  other.name = "other";
  other.max_cpus_per_node = kUnlimited32;
  ClusterBuilder::add_partition(c, other);
  const JobId first = submit(c, a_job().tasks(2), kNow), second = submit(c, a_job().tasks(1), kNow);
  StartItem item = *start_of(Planner().plan(c, {}, kNow, Pass::kFull), first);
  apply_start(c, item, kNow);
  auto alone = std::make_shared<Allocation>(*item.allocation);
  alone->nodes[0].cpus = cpus("3");
  item.job = second;
  item.allocation = alone;
  EXPECT_FALSE(still_fits(c, {}, *c.jobs.at(second.value).request, item, from_unix(1000000), 60));
  item.partition = 1;
  EXPECT_TRUE(still_fits(c, {}, *c.jobs.at(second.value).request, item, from_unix(1000000), 60));
}

// FORCE:1 in two partitions of one tier: they share, jobs of one do not; with another tier nobody shares.
TEST(PartitionSharing, IsCheckedAgainAtTheStart) {
  Cluster c =
      a_cluster().cpus(4).partition([](Partition& p) { p.oversubscribe = OverSubscribe::kForce, p.oversubscribe_count = 1; }).build();
  Partition other = c.partitions.at(0);
  other.name = "other";
  ClusterBuilder::add_partition(c, other);
  const JobId first = submit(c, a_job().tasks(4), kNow), second = submit(c, a_job().tasks(4), kNow);
  StartItem item = *start_of(Planner().plan(c, {}, kNow, Pass::kFull), first);
  apply_start(c, item, kNow);
  item.job = second;
  const RequestBody& request = *c.jobs.at(second.value).request;
  EXPECT_FALSE(still_fits(c, {}, request, item, from_unix(1000000), 60));
  item.partition = 1;
  EXPECT_TRUE(still_fits(c, {}, request, item, from_unix(1000000), 60));
  c.partitions.edit(1)->priority_tier = 9;
  EXPECT_FALSE(still_fits(c, {}, request, item, from_unix(1000000), 60));
}

}  // namespace
}  // namespace muster::sched
