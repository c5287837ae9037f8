// Which of several limits applies: the order of the guide resource_limits, what flags of a QOS change about it, and limits that are parts of
// what there is.
#include <gtest/gtest.h>

#include <map>

#include "acct/limits.h"
#include "model/account_directory_testing.h"

namespace muster::acct {
namespace {

constexpr Uid kAlice{1000};
using Limits = std::vector<Limit>;

// root(1), team(2), alice(3) in it. The job's QOS is "job", that of the partition "part". 2 nodes of 10 CPUs with 4 GPUs, of which the partition
// has one.
struct World {
  Cluster cluster;
  Partition partition;
  std::map<std::string, QosRecord> qos;
  Limits of_alice, of_team, of_root;

  World() {
    partition.name = "main";
    partition.qos = "part";
    partition.nodes.set(0);
    NodeSpec node;
    node.cpus = 10;
    node.real_memory_mb = 1000;
    node.gres.push_back({"gpu", "h100", 4, 0, false, {}, {}, {}, 0, false});
    for (uint32_t i = 0; i < 2; ++i) {
      Node n;
      n.id = NodeId(i);
      n.spec = std::make_shared<const NodeSpec>(node);
      cluster.nodes.set(i, n);
    }
    cluster.know_tres(tres_of(node));
    qos["job"].name = "job";
    qos["part"].name = "part";
  }
  void build() {
    ADirectory d;
    d.qos("job").qos("part").account("root").account("team").user("alice", "team").association("alice", "team", {"job", "part"});
    rpc::Entities all = d.entities();
    all.qos = {qos["job"], qos["part"]};
    all.associations[0].limits = of_root;
    all.associations[1].limits = of_team;
    all.associations[2].limits = of_alice;
    for (const AccountChanges& part : changes_to(nullptr, all)) cluster.learn_accounts(part);
    cluster.change_partition(0, &partition);
  }
  void hold(uint32_t jobs, const std::string& account = "team", Uid user = kAlice, uint32_t cpus = 1) {
    Charge c;
    c.association = 3;
    c.submitted = c.running = jobs;
    RequestBody r;
    r.uid = user;
    r.account = account;
    r.qos = "job";
    c.request = std::make_shared<const RequestBody>(r);
    c.partition_qos = partition.qos;
    auto a = std::make_shared<Allocation>();
    a->nodes.emplace_back().cpus = Bitmap(cpus, true);
    c.allocation = a;
    cluster.recharge({}, c);
  }
  // The first limit that is exceeded, "" where none is.
  std::string ask(const Wanted& wanted = one_cpu(1), When when = kBeforeNodes, const std::string& job_qos = "job") {
    if (!cluster.directory) build();
    const auto all = bounds_on(cluster, {true, true}, {cluster.directory->associations.find(3), "team", job_qos, kAlice}, partition);
    const auto over = first_exceeded(all, {cluster, cluster.ledger, from_unix(1'700'000'000)}, wanted, when);
    return over ? over->detail(cluster.tres_table()) : "";
  }
  static Wanted one_cpu(uint64_t cpus = 1) {
    Wanted w;
    w.tres.add(TresTable::kCpu, cpus);
    w.tres.add(TresTable::kNode, 1);
    w.each_node = w.tres;
    w.time_limit_min = 60;
    return w;
  }
};

// "The limits in effect will be MaxJobs=20 and MaxSubmitJobs=50."
TEST(LimitOrder, TheExampleOfTheGuide) {
  World w;
  w.qos["part"].limits = {{LimitKind::kMaxJobsPerUser, "", 20}};
  w.of_alice = {{LimitKind::kMaxJobs, "", 4}, {LimitKind::kMaxSubmitJobs, "", 50}};
  w.build();
  w.hold(19);
  EXPECT_EQ(w.ask(), "");
  w.hold(1);
  EXPECT_EQ(w.ask(), "MaxJobsPU of QOS part of partition main: 20 of 20 in use, 1 more wanted");
  EXPECT_EQ(w.ask(World::one_cpu(), kAtSubmission), "");
  w.hold(30);
  EXPECT_EQ(w.ask(World::one_cpu(), kAtSubmission), "MaxSubmitJobs of user alice in account team: 50 of 50 in use, 1 more wanted");
}

TEST(LimitOrder, ThePartitionsQosComesBeforeTheJobsUnlessThatSaysOtherwise) {
  World w;
  w.qos["part"].limits = {{LimitKind::kMaxTresPerJob, "cpu", 8}};
  w.qos["job"].limits = {{LimitKind::kMaxTresPerJob, "cpu", 4}, {LimitKind::kMaxTresPerJob, "mem", 5}};
  w.build();
  EXPECT_EQ(w.ask(World::one_cpu(8)), "");
  EXPECT_EQ(w.ask(World::one_cpu(9)), "MaxTRES=cpu of QOS part of partition main: a job may have 8, 9 wanted");
  Wanted memory = World::one_cpu();
  memory.tres.add(TresTable::kMem, 6);
  EXPECT_EQ(w.ask(memory), "MaxTRES=mem of QOS job: a job may have 5, 6 wanted") << "what the other does not set holds";

  World over;
  over.qos = w.qos;
  over.qos["job"].flags = {"OverPartQOS"};
  EXPECT_EQ(over.ask(World::one_cpu(5)), "MaxTRES=cpu of QOS job: a job may have 4, 5 wanted");
}

TEST(LimitOrder, AnAccountsLimitForItsGroupHoldsBesideThatOfItsUser) {
  World w;
  w.of_alice = {{LimitKind::kGrpTres, "cpu", 50}};
  w.of_team = {{LimitKind::kGrpTres, "cpu", 5}};
  EXPECT_EQ(w.ask(World::one_cpu(6)), "GrpTRES=cpu of account team: 0 of 5 in use, 6 more wanted");
}

TEST(LimitOrder, AQosThatIsOfPartitionAndJobIsOne) {
  World w;
  w.qos["part"].limits = {{LimitKind::kGrpTres, "cpu", 3}};
  w.build();
  w.hold(1, "team", kAlice, 3);
  EXPECT_EQ(w.ask(World::one_cpu(), kBeforeNodes, "part"), "GrpTRES=cpu of QOS part of partition main: 3 of 3 in use, 1 more wanted");
}

TEST(LimitOrder, MaxTresPerNodeIsAboutTheNodeThatHasTheMost) {
  World w;
  w.of_alice = {{LimitKind::kMaxTresPerNode, "cpu", 4}, {LimitKind::kMaxTresPerNode, "gres/gpu", 1}};
  Wanted wanted = World::one_cpu(16);  // on four nodes
  wanted.each_node = TresCounts();
  wanted.each_node.add(TresTable::kCpu, 4);
  EXPECT_EQ(w.ask(wanted), "");
  wanted.each_node.add(TresTable::kCpu, 1);
  EXPECT_EQ(w.ask(wanted), "MaxTRESPerNode=cpu of user alice in account team: a job may have 4, 5 wanted");
  World by_qos;
  by_qos.of_alice = w.of_alice;
  by_qos.qos["job"].limits = {{LimitKind::kMaxTresPerNode, "cpu", 5}};
  EXPECT_EQ(by_qos.ask(wanted), "") << "the QOS's takes its place";
  add_gres(wanted.each_node, by_qos.cluster.tres_table(), "gpu", "h100", 2);
  EXPECT_EQ(by_qos.ask(wanted), "MaxTRESPerNode=gres/gpu of user alice in account team: a job may have 1, 2 wanted");
}

TEST(LimitOrder, RunMinutesOfAUserAndOfAnAccountOfAQos) {
  World w;
  w.qos["job"].limits = {{LimitKind::kMaxTresRunMinsPerUser, "cpu", 120}};
  EXPECT_EQ(w.ask(World::one_cpu(2)), "");
  EXPECT_EQ(w.ask(World::one_cpu(3)), "MaxTRESRunMinsPU=cpu of QOS job: 0 of 120 in use, 180 more wanted");
  World a;
  a.qos["job"].limits = {{LimitKind::kMaxTresRunMinsPerAccount, "cpu", 120}};
  EXPECT_EQ(a.ask(World::one_cpu(3)), "MaxTRESRunMinsPA=cpu of QOS job: 0 of 120 in use, 180 more wanted");
}

// The ledger counts what runs by the factor of its QOS; so does what is wanted.
TEST(LimitOrder, TheUsageFactorCountsInRunMinutes) {
  World w;
  w.of_team = {{LimitKind::kGrpTresRunMins, "cpu", 100}};
  w.qos["job"].usage_factor = 2;
  EXPECT_EQ(w.ask(World::one_cpu(1)), "GrpTRESRunMins=cpu of account team: 0 of 100 in use, 120 more wanted");
  w.qos["job"].usage_factor = 0.5;
  World half;
  half.of_team = w.of_team;
  half.qos = w.qos;
  EXPECT_EQ(half.ask(World::one_cpu(3)), "");
}

TEST(LimitOrder, UsageFactorSafeCountsTheFactorBeforeTheStart) {
  for (bool flag : {false, true}) {
    World w;
    w.of_team = {{LimitKind::kGrpTresMins, "cpu", 100}};
    w.qos["job"].usage_factor = 2;
    if (flag) w.qos["job"].flags = {"UsageFactorSafe"};
    w.build();
    const auto all = bounds_on(w.cluster, {true, true}, {w.cluster.directory->associations.find(3), "team", "job", kAlice}, w.partition);
    const auto over = first_exceeded(all, {w.cluster, w.cluster.ledger, from_unix(1'700'000'000), true}, World::one_cpu(1), kBeforeNodes);
    EXPECT_EQ(over.has_value(), flag);
  }
}

TEST(LimitOrder, RelativeLimitsArePartsOfTheClusterOrOfThePartition) {
  World w;
  w.qos["job"].flags = {"Relative"};
  w.qos["job"].limits = {
      {LimitKind::kMaxTresPerJob, "cpu", 50}, {LimitKind::kMaxTresPerJob, "gres/gpu", 300}, {LimitKind::kGrpJobs, "", 7}};
  EXPECT_EQ(w.ask(World::one_cpu(10)), "") << "half of the cluster's 20";
  EXPECT_EQ(w.ask(World::one_cpu(11)), "MaxTRES=cpu of QOS job: a job may have 10, 11 wanted");
  Wanted gpus = World::one_cpu();
  add_gres(gpus.tres, w.cluster.tres_table(), "gpu", "h100", 9);
  EXPECT_EQ(w.ask(gpus), "MaxTRES=gres/gpu of QOS job: a job may have 8, 9 wanted") << "above 100 is all";
  w.hold(7);
  EXPECT_EQ(w.ask(), "GrpJobs of QOS job: 7 of 7 in use, 1 more wanted") << "jobs are not there in percent";

  World p;
  p.qos["part"].flags = {"Relative"};
  p.qos["part"].limits = w.qos["job"].limits;
  EXPECT_EQ(p.ask(World::one_cpu(6)), "MaxTRES=cpu of QOS part of partition main: a job may have 5, 6 wanted") << "half of its 10";
}

TEST(LimitOrder, AccrueLimitsAreAskedByNobodyWhoStartsAJob) {
  World w;
  w.qos["job"].limits = {{LimitKind::kMaxJobsAccruePerUser, "", 0}};
  w.qos["part"].limits = {{LimitKind::kGrpJobsAccrue, "", 0}};
  w.of_alice = {{LimitKind::kMaxJobsAccrue, "", 0}, {LimitKind::kGrpJobsAccrue, "", 0}};
  for (When when : {kAtSubmission, kBeforeNodes, kWithNodes, kWhereItStarts}) EXPECT_EQ(w.ask(World::one_cpu(), when), "");
  EXPECT_EQ(w.ask(World::one_cpu(), kToAccrue), "MaxJobsAccruePU of QOS job: 0 of 0 in use, 1 more wanted");
  w.cluster.directory = nullptr;
  w.qos["job"].limits.clear();
  EXPECT_EQ(w.ask(World::one_cpu(), kToAccrue), "GrpJobsAccrue of user alice in account team: 0 of 0 in use, 1 more wanted")
      << "that of the partition's QOS has no part in it";
}

}  // namespace
}  // namespace muster::acct
