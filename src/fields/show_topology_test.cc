#include "fields/show_topology.h"

#include <gtest/gtest.h>

namespace muster::fields {
namespace {

const std::vector<std::string> kNames = {"n0", "n1", "n2", "n3", "", "n5", "n6", "n7", "n8"};

Topologies site() {
  Topologies all;
  Topology tree{.name = "net", .kind = TopologyKind::kTree};
  tree.units.push_back({.name = "spine", .children = {1, 2}});
  tree.units.push_back({.name = "leaf0", .nodes = {0, 1}});
  tree.units.push_back({.name = "leaf1", .nodes = {2, 3}, .link_speed = "900"});
  Topology block{.name = "nvl", .kind = TopologyKind::kBlock, .cluster_default = true, .block_sizes = {2, 4}};
  for (uint32_t b = 0; b < 3; ++b) block.units.push_back({.name = "b" + std::to_string(b), .nodes = {2 * b, 2 * b + 1}});
  block.units[2].nodes = {5, 6};
  all.all = {tree, block, {.name = "plain"}};
  return all;
}

std::string show(TopologyWanted wanted) {
  auto r = show_topology({site(), kNames}, wanted);
  return r ? *r : "error: " + r.error().text;
}

TEST(ShowTopology, LinesOfATree) {
  EXPECT_EQ(show({.topology = "net"}), "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
                                       "SwitchName=leaf1 Level=0 LinkSpeed=900 Nodes=n[2-3]\n"
                                       "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=leaf[0-1]\n");
  EXPECT_EQ(show({.topology = "net", .unit = "leaf1"}), "SwitchName=leaf1 Level=0 LinkSpeed=900 Nodes=n[2-3]\n");
  EXPECT_EQ(show({.topology = "net", .nodes = {"n0"}}), "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
                                                        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=leaf[0-1]\n");
  EXPECT_EQ(show({.topology = "net", .nodes = {"n0", "n2"}, .line_length = 16}), "SwitchName=spine\n");
}

TEST(ShowTopology, LinesOfBlocks) {
  EXPECT_EQ(show({}), "BlockName=b0 BlockIndex=0 Nodes=n[0-1] BlockSize=2\n"
                      "BlockName=b1 BlockIndex=1 Nodes=n[2-3] BlockSize=2\n"
                      "BlockName=b2 BlockIndex=2 Nodes=n[5-6] BlockSize=2\n"
                      "AggregatedBlock=b[0-1] BlockIndex=3 Nodes=n[0-3] BlockSize=4\n"
                      "AggregatedBlock=b2 BlockIndex=4 Nodes=n[5-6] BlockSize=4\n");
}

TEST(ShowTopology, WhatThereIsNoneOf) {
  EXPECT_EQ(show({.topology = "x"}), "error: there is no topology x");
  EXPECT_EQ(show({.unit = "b9"}), "error: topology nvl has no block b9");
  EXPECT_EQ(show({.nodes = {"n99"}}), "error: Node n99 not found");
  EXPECT_EQ(show({.nodes = {"n0", "n5"}}), "error: no block of topology nvl holds n[0,5]");
  EXPECT_EQ(show({.topology = "plain"}), "");
}

TEST(ShowTopology, Yaml) {
  EXPECT_EQ(show_topoconf({site(), kNames}), R"(---
- topology: net
  cluster_default: false
  tree:
    switches:
      - switch: spine
        children: leaf[0-1]
      - switch: leaf0
        nodes: n[0-1]
      - switch: leaf1
        nodes: n[2-3]
- topology: nvl
  cluster_default: true
  block:
    block_sizes:
      - 2
      - 4
    blocks:
      - block: b0
        nodes: n[0-1]
      - block: b1
        nodes: n[2-3]
      - block: b2
        nodes: n[5-6]
- topology: plain
  cluster_default: false
  flat: true
)");
}

}  // namespace
}  // namespace muster::fields
