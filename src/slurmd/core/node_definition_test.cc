#include "slurmd/core/node_definition.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

// The machine of the example in slurmd(8).
NodeHardware example() {
  NodeHardware h;
  h.cpus = 16;
  h.boards = h.sockets = 1;
  h.cores_per_socket = 8;
  h.threads_per_core = 2;
  h.real_memory_mb = 31848;
  return h;
}

std::string line(const std::string& conf, const std::string& gpus = "") {
  auto keys = parse_conf_option(conf);
  if (!keys) return std::string(keys.error().message());
  std::string out = node_line("node1", node_definition(example(), *keys, gpus));
  std::erase(out, '"');
  return out;
}

TEST(NodeDefinition, AsTheExamplesOfTheManualPage) {
  const std::string all = "NodeName=node1 CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=2";
  EXPECT_EQ(line(""), all + " RealMemory=31848");
  EXPECT_EQ(line("Gres=gpu:2"), all + " RealMemory=31848 Gres=gpu:2");
  EXPECT_EQ(line("RealMemory=30000"), all + " RealMemory=30000");
  EXPECT_EQ(line("CPUs=16"), "NodeName=node1 RealMemory=31848 CPUs=16");
  EXPECT_EQ(line("CPUs=16 RealMemory=30000 Gres=gpu:2"), "NodeName=node1 CPUs=16 RealMemory=30000 Gres=gpu:2");
}

TEST(NodeDefinition, GpusThatWereFoundCountUnlessConfHasSome) {
  EXPECT_TRUE(line("", "gpu:a100:2").ends_with(" Gres=gpu:a100:2"));
  EXPECT_TRUE(line("Gres=tmpfs:1000", "gpu:a100:2").ends_with(" Gres=tmpfs:1000,gpu:a100:2"));
  EXPECT_TRUE(line("Gres=gpu:4", "gpu:a100:2").ends_with(" Gres=gpu:4"));
  EXPECT_TRUE(line("gres=tmpfs:1,gpu:v100:4", "gpu:a100:2").ends_with(" gres=tmpfs:1,gpu:v100:4"));
  EXPECT_TRUE(line("Gres=gpus:4", "gpu:a100:2").ends_with(" Gres=gpus:4,gpu:a100:2"));
}

TEST(NodeDefinition, QuotedValuesStayWhole) {
  auto keys = parse_conf_option("Features=\"a,b\" Reason=\"new machine\"");
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 2u);
  EXPECT_EQ((*keys)[1].value, "new machine");
}

TEST(NodeDefinition, WhatIsNotForConf) {
  EXPECT_EQ(line("NodeName=n7"), "--conf: NodeName is not supported; -N gives the name");
  EXPECT_EQ(line("port=17"), "--conf: port is not supported; -N gives the name");
  EXPECT_EQ(line("Features+=x"), "--conf: Features is written with = alone");
  EXPECT_EQ(line("Features=a\nNodeName=n7"), "--conf must not contain control characters");
  EXPECT_TRUE(line("Include /etc/passwd").starts_with("--conf: ")) << line("Include /etc/passwd");
  EXPECT_TRUE(line("nonsense").starts_with("--conf: ")) << line("nonsense");
}

}  // namespace
}  // namespace muster::slurmd
