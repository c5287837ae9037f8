// The amounts of TRES in rows: whoever holds the same has the same in it, and of each kind of thing the same amounts are listed.
#include "slurmctld/core/rows.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

NodeShare share_with_devices() {
  NodeShare s;
  s.cpus.set_range(0, 4);
  s.mem_mb = 8192;
  s.gres.push_back({"gpu", "h100", 2, {}, {}});
  return s;
}

TEST(TresOfRows, AStepAndTheScriptListDevicesAsTheirJobDoes) {
  auto allocation = std::make_shared<Allocation>();
  allocation->nodes = {share_with_devices()};
  Job job;
  job.request = std::make_shared<JobRequest>();
  job.allocation = allocation;
  Step step;
  step.request = std::make_shared<StepRequest>();
  StepShare& part = step.shares.emplace_back();
  part.cpus = allocation->nodes[0].cpus;
  part.mem_mb = 8192;
  part.gres = allocation->nodes[0].gres;
  EXPECT_EQ(tres_text(tres_of({}, *allocation)), "cpu=4,mem=8G,node=1,billing=4,gres/gpu=2,gres/gpu:h100=2");
  EXPECT_EQ(tres_text(make_step_row({}, job, step).tres), "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:h100=2");
  EXPECT_EQ(make_step_row({}, job, step).cpus, 4u);
  EXPECT_EQ(tres_text(make_batch_step_row({}, job).tres), "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:h100=2");
}

// Which one of `-L app:1|db:2` a job was given; what was asked for does not tell.
TEST(LicensesOfRows, AreThoseThatTheJobHolds) {
  Cluster cluster;
  const sched::PriorityRule rule(cluster, {}, from_unix(1'700'000'000));
  auto allocation = std::make_shared<Allocation>();
  allocation->nodes = {share_with_devices()};
  allocation->licenses = {{"db", 2}};
  Job job;
  JobRequest asked;
  asked.licenses = "app:1|db:2";
  job.ask(asked);
  EXPECT_TRUE(make_job_row(cluster, rule, job, 0).licenses.empty());
  job.state = JobState::kRunning;
  job.allocation = allocation;
  EXPECT_EQ(make_job_row(cluster, rule, job, 0).licenses, allocation->licenses);
}

TEST(TresOfRows, TypesOfSeveralNodesAreListedAsGresAndAsTres) {
  Allocation allocation;
  allocation.nodes = {share_with_devices(), share_with_devices()};
  allocation.nodes[1].gres[0].type = "a100";
  EXPECT_EQ(tres_text(tres_of({}, allocation)), "cpu=8,mem=16G,node=2,billing=8,gres/gpu=4,gres/gpu:a100=2,gres/gpu:h100=2");
  EXPECT_EQ(gres_text(gres_sum(allocation.nodes)), "gpu:h100:2,gpu:a100:2");
}

TEST(TresOfRows, AJobListsItsCpusAndNodesAndMemoryThatItHas) {
  EXPECT_EQ(tres_text(tres_of({}, Allocation())), "cpu=0,node=0,billing=0");
  RequestBody r;
  r.num_tasks = 3;
  EXPECT_EQ(tres_text(tres_requested({}, r, 0)), "cpu=3,node=1,billing=3");
  r.mem_per_cpu_mb = 512;
  r.tres_per_node = "gres/gpu:a100:2";
  r.tres_per_task = "gres/nic:1";
  EXPECT_EQ(tres_text(tres_requested({}, r, 0)), "cpu=3,mem=1.50G,node=1,billing=3,gres/gpu=2,gres/nic=3,gres/gpu:a100=2");
  r.mem_per_node_mb = 0;
  EXPECT_EQ(tres_requested({}, r, 0).mem_mb, std::nullopt);
}

TEST(TresOfRows, OnlyTheAskedPartHasThem) {
  auto allocation = std::make_shared<Allocation>();
  allocation->nodes = {share_with_devices()};
  Job job;
  job.state = JobState::kRunning;
  job.request = std::make_shared<JobRequest>();
  job.allocation = allocation;
  const Cluster cluster;
  const sched::PriorityParams params;
  const sched::PriorityRule rule(cluster, params, Time{});
  const JobRow bare = make_job_row(cluster, rule, job, 0), whole = make_job_row(cluster, rule, job, kRowTres);
  EXPECT_FALSE(bare.tres.is_there());
  EXPECT_EQ(tres_text(whole.tres->requested), "cpu=1,node=1,billing=1");
  EXPECT_EQ(whole.tres->allocated, tres_of({}, *allocation));
}

TEST(TresOfRows, ANodeListsWhatItHasAndOnceItIsInUseWhatIsHeldOfIt) {
  auto spec = std::make_shared<NodeSpec>();
  spec->cpus = 4;
  spec->real_memory_mb = 0;  // a node lists its memory in any case
  spec->gres.resize(1);
  spec->gres[0].name = "gpu";
  spec->gres[0].count = 2;
  Node node;
  node.spec = spec;
  EXPECT_EQ(tres_text(make_node_row({}, node, {}).tres_configured), "cpu=4,mem=0,billing=4,gres/gpu=2");
  EXPECT_TRUE(make_node_row({}, node, {}).tres_allocated.empty());
  node.mem_used_mb = 1000;
  EXPECT_EQ(tres_text(make_node_row({}, node, {}).tres_allocated), "cpu=0,mem=1000M");
  node.cpus_used.set(0);
  EXPECT_EQ(tres_text(make_node_row({}, node, {}).tres_allocated), "cpu=1,mem=1000M");
}

TEST(TresOfRows, APartitionListsAllThatItsNodesHave) {
  Cluster cluster;
  Partition partition;
  EXPECT_EQ(tres_text(make_partition_row(cluster, partition).tres), "cpu=0,mem=0,node=0,billing=0");
  for (uint32_t i = 0; i < 2; ++i) {
    auto spec = std::make_shared<NodeSpec>();
    spec->name = "n" + std::to_string(i);
    spec->cpus = 4;
    spec->real_memory_mb = 2048;
    Node node;
    node.id = NodeId(i);
    node.spec = spec;
    cluster.nodes.set(i, node);
    partition.nodes.set(i);
  }
  const PartitionRow row = make_partition_row(cluster, partition);
  EXPECT_EQ(tres_text(row.tres), "cpu=8,mem=4G,node=2,billing=8");
  EXPECT_EQ(row.total_cpus, 8u);
}

}  // namespace
}  // namespace muster::slurmctld
