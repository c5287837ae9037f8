// What flags of a QOS set aside of a partition, and for whom backfill keeps places.
#include "sched/qos_flags.h"

#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

struct World {
  Cluster cluster = a_cluster().nodes(4).cpus(4).build();
  Params params;
  World(const std::vector<std::string>& flags, std::vector<Limit> limits = {}) {
    ADirectory d;
    d.qos("own").qos("plain").account("root").user("alice", "root").association("alice", "root", {"own", "plain"});
    d.entities().qos[0].flags = flags;
    d.entities().qos[0].limits = std::move(limits);
    cluster.directory = std::make_shared<const AccountDirectory>(d.make());
  }
  Partition& partition() { return *cluster.partitions.edit(0); }
  Reason waits_for(uint32_t nodes, uint32_t minutes, const std::string& qos) {
    const JobId job =
        submit(cluster, a_job().nodes(nodes).minutes(minutes).with([&](JobRequest& r) { r.qos = qos; }), Time{} + seconds(1'000'000));
    const Plan plan = Planner().plan(cluster, params, Time{} + seconds(1'000'000), Pass::kFull);
    for (const auto& [id, verdict] : plan.verdicts)
      if (id == job) return verdict.reason;
    return Reason::kNone;
  }
};

TEST(QosFlags, SetLimitsOfThePartitionAside) {
  World w({"PartitionMaxNodes", "PartitionTimeLimit"});
  w.partition().max_nodes = 2;
  w.partition().max_time_min = 60;
  EXPECT_EQ(w.waits_for(3, 10, "plain"), Reason::kPartitionNodeLimit);
  EXPECT_EQ(w.waits_for(1, 90, "plain"), Reason::kPartitionTimeLimit);
  EXPECT_EQ(w.waits_for(3, 10, "own"), Reason::kNone);
  World few({"PartitionMinNodes"});
  few.partition().min_nodes = 2;
  auto one = [](const std::string& qos) { return a_job().nodes(1).with([&](JobRequest& r) { r.qos = qos, r.max_nodes = 1; }); };
  submit(few.cluster, one("plain"), Time{} + seconds(1'000'000));
  submit(few.cluster, one("own"), Time{} + seconds(1'000'000));
  const Plan plan = Planner().plan(few.cluster, few.params, Time{} + seconds(1'000'000), Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  EXPECT_EQ(few.cluster.jobs.at(plan.starts[0].job.value).request->qos, "own");
}

TEST(QosFlags, SayForWhomPlacesAreKept) {
  World w({"NoReserve"}, {{LimitKind::kMinPriority, "", 9}});
  EXPECT_FALSE(place_by_qos(w.cluster, "own").may);
  EXPECT_EQ(place_by_qos(w.cluster, "own").least_priority, 9u);
  EXPECT_TRUE(place_by_qos(w.cluster, "plain").may);
  EXPECT_EQ(place_by_qos(w.cluster, "plain").least_priority, std::nullopt);
  EXPECT_TRUE(place_by_qos(w.cluster, "nosuch").may);
}

}  // namespace
}  // namespace muster::sched
