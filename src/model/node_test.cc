#include "model/node.h"

#include <gtest/gtest.h>

#include "model/cluster.h"
#include "model/job.h"

namespace muster {
namespace {

Bitmap cpus(std::initializer_list<size_t> members) {
  Bitmap b(8);
  for (size_t i : members) b.set(i);
  return b;
}

Node node_of_4_cpus() {
  NodeSpec spec;
  spec.name = "n1";
  spec.cpus = 4;
  Node n;
  n.spec = std::make_shared<const NodeSpec>(spec);
  n.admin = NodeState::kIdle;
  return n;
}

TEST(NodeStateDerived, FollowsTheUseOfCpus) {
  Node n = node_of_4_cpus();
  EXPECT_EQ(n.state(), NodeState::kIdle);
  n.cpus_used = cpus({0, 1, 2});
  EXPECT_EQ(n.state(), NodeState::kMixed);
  n.cpus_used = cpus({0, 1, 2, 3});
  EXPECT_EQ(n.state(), NodeState::kAllocated);
}

TEST(NodeStateDerived, AWholeNodeJobAllocatesIt) {
  Node n = node_of_4_cpus();
  n.whole_node_jobs = 1;
  n.cpus_used = cpus({0});
  EXPECT_EQ(n.state(), NodeState::kAllocated);
}

TEST(NodeStateDerived, SpecializedCpusDoNotCount) {
  Node n = node_of_4_cpus();
  NodeSpec spec = *n.spec;
  spec.specialized_cpus = cpus({0});
  n.spec = std::make_shared<const NodeSpec>(spec);
  n.cpus_used = cpus({1, 2});
  EXPECT_EQ(n.state(), NodeState::kMixed);
  n.cpus_used = cpus({1, 2, 3});
  EXPECT_EQ(n.state(), NodeState::kAllocated);
}

TEST(NodeStateDerived, AJobWithoutCpusMakesItMixed) {
  Node n = node_of_4_cpus();
  n.jobs_running = 1;
  EXPECT_EQ(n.state(), NodeState::kMixed);
}

TEST(NodeStateDerived, DownStaysDownWhateverIsUsed) {
  Node n = node_of_4_cpus();
  n.admin = NodeState::kDown;
  n.cpus_used = cpus({0, 1, 2, 3});
  EXPECT_EQ(n.state(), NodeState::kDown);
}

TEST(NodeEquality, ComparesPointeesAndLeavesVolatileMembersOut) {
  Node a = node_of_4_cpus(), b = node_of_4_cpus();
  ASSERT_NE(a.spec, b.spec);
  EXPECT_TRUE(a == b);
  b.connected = true;
  b.last_response = from_unix(5);
  b.cpu_load = 7;
  b.free_mem_mb = 9;
  EXPECT_TRUE(a == b);
  b.hardware = std::make_shared<const NodeHardware>();
  EXPECT_FALSE(a == b);
  b = a;
  b.resume_after = from_unix(1);
  EXPECT_FALSE(a == b);
}

TEST(JobEquality, ComparesPointees) {
  Job a, b;
  a.ask({});
  b.ask({});
  EXPECT_TRUE(a == b);
  JobRequest other;
  other.name = "x";
  b.ask(other);
  EXPECT_FALSE(a == b);
  other = {};
  other.min_nodes = 2;
  b.ask(other);
  EXPECT_FALSE(a == b);
  b = a;
  b.steps.push_back({.request = std::make_shared<const StepRequest>()});
  a.steps.push_back({.request = std::make_shared<const StepRequest>()});
  EXPECT_TRUE(a == b);
  a.detail = std::make_shared<const std::string>("why");
  EXPECT_FALSE(a == b);
}

TEST(ClusterNames, FindNodesAndPartitions) {
  Cluster c;
  EXPECT_EQ(c.node("n1"), nullptr);
  Node n = node_of_4_cpus();
  n.id = NodeId(3);
  c.nodes.set(3, n);
  Partition p;
  p.name = "gpu";
  c.partitions.set(0, p);
  using Names = std::unordered_map<std::string, uint32_t>;
  c.node_names = std::make_shared<const Names>(Names{{"n1", 3}, {"gone", 9}});
  c.partition_names = std::make_shared<const Names>(Names{{"gpu", 0}});
  ASSERT_NE(c.node("n1"), nullptr);
  EXPECT_EQ(c.node("n1")->id, NodeId(3));
  EXPECT_EQ(c.node("gone"), nullptr);
  EXPECT_EQ(c.node("n2"), nullptr);
  ASSERT_NE(c.partition("gpu"), nullptr);
  EXPECT_EQ(c.partition("cpu"), nullptr);
}

}  // namespace
}  // namespace muster
