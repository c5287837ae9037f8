#include "muster/fabric_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::front {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kA1 = "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.1", kA2 = "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.2";

GpuFabric clique(uint32_t number) { return {0x2f9c1d3e00aa4bcd, 0x8e010242ac120002, number}; }

// Nodes n0, n1 … of these cliques of one rack; 0: tells of none.
rpc::TopologyAnswer site_of(const std::vector<uint32_t>& cliques) {
  rpc::TopologyAnswer site;
  for (uint32_t c : cliques) {
    site.nodes.push_back("n" + std::to_string(site.nodes.size()));
    site.fabrics.push_back(c ? clique(c) : GpuFabric{});
  }
  return site;
}

Topology blocks(std::string name, std::vector<std::vector<uint32_t>> units, std::vector<uint32_t> sizes) {
  Topology out{.name = std::move(name), .kind = TopologyKind::kBlock, .cluster_default = true, .block_sizes = std::move(sizes)};
  for (std::vector<uint32_t>& nodes : units)
    out.units.push_back({.name = "b" + std::to_string(out.units.size() + 1), .nodes = std::move(nodes)});
  return out;
}

std::string text_of(const Topology& t) {
  std::string out;
  for (const TopologyUnit& u : t.units) {
    out += u.name + ":";
    for (uint32_t n : u.nodes) out += " " + std::to_string(n);
    out += "; ";
  }
  for (uint32_t n : t.block_sizes) out += std::to_string(n) + " ";
  return out;
}

// What is proposed for the first topology of blocks.
std::string proposed(const rpc::TopologyAnswer& site) { return text_of(with_fabric_blocks(site).all.front()); }

TEST(FabricBlocks, ASiteWithoutTopologyGetsABlockForEachClique) {
  const rpc::TopologyAnswer site = site_of({2, 1, 2, 1, 0, 1});
  const Topologies all = with_fabric_blocks(site);
  ASSERT_EQ(all.all.size(), 1u);
  EXPECT_EQ(all.all[0].name, "nvlink");
  EXPECT_TRUE(all.all[0].cluster_default);
  EXPECT_EQ(text_of(all.all[0]), "block1: 0 2; block2: 1 3 5; 2 ");
  EXPECT_TRUE(with_fabric_blocks(site_of({0, 0})).all.empty());
}

TEST(FabricBlocks, OtherTopologiesStay) {
  rpc::TopologyAnswer site = site_of({1, 1, 2, 2});
  site.topologies.all.push_back(
      {.name = "nvlink", .kind = TopologyKind::kTree, .cluster_default = true, .units = {{.name = "leaf", .nodes = {0, 1}}}});
  const Topologies all = with_fabric_blocks(site);
  ASSERT_EQ(all.all.size(), 2u);
  EXPECT_EQ(all.all[0], site.topologies.all[0]);
  EXPECT_EQ(all.all[1].name, "nvlink-blocks");
  EXPECT_FALSE(all.all[1].cluster_default);
}

TEST(FabricBlocks, BlocksThatFitStayAsTheyAre) {
  rpc::TopologyAnswer site = site_of({1, 1, 2, 2, 0});
  site.topologies.all = {blocks("default", {{2, 3}, {0, 1, 4}}, {2, 4})};
  EXPECT_EQ(with_fabric_blocks(site), site.topologies);
}

TEST(FabricBlocks, ABlockOfTwoCliquesIsDividedAndADividedCliqueIsJoined) {
  rpc::TopologyAnswer site = site_of({1, 1, 2, 2, 0});
  site.topologies.all = {blocks("default", {{0, 1, 2}, {3, 4}}, {2, 4})};
  EXPECT_EQ(proposed(site), "b1: 0 1; b2: 2 3 4; 2 4 ");
  site.topologies.all = {blocks("default", {{0, 1, 2, 3, 4}}, {5})};
  EXPECT_EQ(proposed(site), "b1: 0 1 4; block1: 2 3; 2 ");  // no block of 5 is left
  site.topologies.all = {blocks("default", {{0, 2}, {1, 3}, {4}}, {1})};
  EXPECT_EQ(proposed(site), "b1: 0 1; b2: 2 3; b3: 4; 1 ");
  site.topologies.all = {blocks("default", {{0}, {1}, {2, 3}}, {1, 2})};
  EXPECT_EQ(proposed(site), "b1: 0 1; b3: 2 3; 2 ");  // b2 is empty
}

TEST(FabricBlocks, ASizeThatLeavesSparesStays) {
  rpc::TopologyAnswer site = site_of({1, 1, 1, 2, 2, 2});
  for (const auto& [size, fitting] : {std::pair(1u, 3u), std::pair(2u, 2u), std::pair(3u, 3u), std::pair(4u, 3u)}) {
    site.topologies.all = {blocks("default", {{0, 1, 2}, {3, 4, 5}}, {size})};
    EXPECT_EQ(with_fabric_blocks(site).all[0].block_sizes, std::vector{fitting}) << size;
  }
}

TEST(FabricBlocks, AnAnswerOfBeforeTellsNothing) {
  rpc::TopologyAnswer site = site_of({1, 1});
  site.fabrics.clear();
  EXPECT_THAT(cliques_of(site), IsEmpty());
  site = site_of({1, 1});
  site.nodes[1] = "";  // there is no such node any more
  ASSERT_EQ(cliques_of(site).size(), 1u);
  EXPECT_THAT(cliques_of(site)[0].nodes, ElementsAre(0));
}

TEST(FabricBlocks, TheTextsOfTheFiles) {
  rpc::TopologyAnswer site = site_of({1, 1, 2, 2, 0});
  site.topologies.all = {blocks("racks", {{0, 1, 2}, {3, 4}}, {2, 4})};
  const std::string comments = "# Proposed by muster topology: a block for each NVLink clique that nodes tell of.\n"
                               "#   " +
                               kA1 +
                               ": 2 nodes\n"
                               "#   " +
                               kA2 +
                               ": 2 nodes\n"
                               "# 1 node without, left where they are: n4\n";
  EXPECT_EQ(proposed_conf(site), comments + "BlockName=b1 Nodes=n[0-1]\n"
                                            "BlockName=b2 Nodes=n[2-4]\n"
                                            "BlockSizes=2,4\n");
  EXPECT_EQ(proposed_yaml(site), comments + "---\n"
                                            "- topology: racks\n"
                                            "  cluster_default: true\n"
                                            "  block:\n"
                                            "    block_sizes:\n"
                                            "      - 2\n"
                                            "      - 4\n"
                                            "    blocks:\n"
                                            "      - block: b1\n"
                                            "        nodes: n[0-1]\n"
                                            "      - block: b2\n"
                                            "        nodes: n[2-4]\n");
}

TEST(FabricBlocks, TheFilesAreReadAsProposed) {
  rpc::TopologyAnswer site = site_of({3, 1, 2, 2, 3});
  const Topologies meant = with_fabric_blocks(site);
  const std::string conf = "ClusterName=c\nSlurmctldHost=h\nNodeName=n[0-4]\nPartitionName=p Nodes=ALL\nTopologyPlugin=topology/block\n";
  for (const auto& [file, text] : {std::pair("topology.yaml", proposed_yaml(site)), std::pair("topology.conf", proposed_conf(site))}) {
    config::MemoryFiles files{{"/etc/slurm/slurm.conf", conf}, {std::string("/etc/slurm/") + file, text}};
    auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
    ASSERT_TRUE(loaded) << config::to_text(loaded.error());
    ASSERT_EQ(loaded->topology.topologies.all.size(), 1u) << file;
    EXPECT_EQ(text_of(loaded->topology.topologies.all[0]), text_of(meant.all[0])) << file;
  }
}

TEST(FabricBlocks, ContradictionsAreFound) {
  rpc::TopologyAnswer site = site_of({1, 1, 2, 2, 0, 2});
  site.topologies.all = {blocks("default", {{0, 1, 2}, {3, 4}}, {2})};
  const FabricCheck checked = check_blocks(site);
  EXPECT_THAT(checked.topologies, ElementsAre("topology default"));
  ASSERT_EQ(checked.findings.size(), 2u);
  EXPECT_EQ(checked.findings[0].level, Level::kWarning);
  EXPECT_EQ(checked.findings[0].file, "topology default");
  EXPECT_EQ(checked.findings[0].subject, "block b1");
  EXPECT_EQ(checked.findings[0].message, "spans 2 NVLink cliques: n[0-1] in " + kA1 + ", n2 in " + kA2);
  EXPECT_EQ(checked.findings[1].subject, "NVLink clique " + kA2);
  EXPECT_EQ(checked.findings[1].message, "is not in one block: n2 in block b1, n3 in block b2, n5 in no block");
}

TEST(FabricBlocks, WhatIsProposedContradictsNothing) {
  rpc::TopologyAnswer site = site_of({1, 2, 1, 0, 3, 3, 2});
  site.topologies.all = {blocks("default", {{0, 1, 4}, {2, 3}, {5, 6}}, {2}), blocks("others", {{3}}, {1})};
  EXPECT_FALSE(check_blocks(site).findings.empty());
  site.topologies = with_fabric_blocks(site);
  EXPECT_THAT(check_blocks(site).findings, IsEmpty());  // and of the second topology no clique is any business
  EXPECT_THAT(check_blocks(site).topologies, ElementsAre("topology default", "topology others"));
}

}  // namespace
}  // namespace muster::front
