#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

constexpr char kHead[] = "ClusterName=c\nSlurmctldHost=ctl\n";

std::expected<LoadedConfig, std::vector<ConfigError>> load(const std::string& conf, const std::string& topology,
                                                           const std::string& yaml = "") {
  MemoryFiles files{{"/etc/slurm/slurm.conf", kHead + conf}};
  if (!topology.empty()) files.put("/etc/slurm/topology.conf", topology);
  if (!yaml.empty()) files.put("/etc/slurm/topology.yaml", yaml);
  return load_config(files, "/etc/slurm/slurm.conf");
}

LoadedConfig loaded(const std::string& conf, const std::string& topology, const std::string& yaml = "") {
  auto r = load(conf, topology, yaml);
  EXPECT_TRUE(r.has_value()) << (r ? "" : to_text(r.error()));
  return r ? std::move(*r) : LoadedConfig{};
}

std::string errors(const std::string& conf, const std::string& topology, const std::string& yaml = "") {
  auto r = load(conf, topology, yaml);
  return r ? "loaded" : to_text(r.error());
}

const Topology& only(const LoadedConfig& l) {
  EXPECT_EQ(l.topology.topologies.all.size(), 1u);
  return l.topology.topologies.all.at(0);
}

void expect_in(const std::string& all, const std::string& part) {
  EXPECT_NE(all.find(part), std::string::npos) << all << "\ndoes not hold: " << part;
}

TEST(Topology, TreeInAnyOrder) {
  LoadedConfig l = loaded("TopologyPlugin=topology/tree\nNodeName=gpu[001-032]\n",
                          "SwitchName=spine Switches=leaf[0-1]\nSwitchName=leaf0 "
                          "Nodes=gpu[001-016]\nSwitchName=leaf1 Nodes=gpu[017-032] LinkSpeed=900\n");
  const Topology& t = only(l);
  EXPECT_EQ(t.name, "default");
  EXPECT_TRUE(t.cluster_default);
  ASSERT_EQ(t.units.size(), 3u);
  EXPECT_EQ(switch_levels(t), (std::vector<uint32_t>{1, 0, 0}));
  EXPECT_EQ(nodes_below(t, 0).size(), 32u);
  EXPECT_EQ(t.units[0].children, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(t.units[2].nodes.front(), 16u);
  EXPECT_EQ(t.units[2].link_speed, "900");
}

// The guide's second example: every upper switch is connected to every leaf.
TEST(Topology, SeveralSwitchesOverTheSameLeaves) {
  LoadedConfig l = loaded("TopologyPlugin=topology/tree\nNodeName=tux[0-15]\n",
                          "SwitchName=s0 Nodes=tux[0-3]\nSwitchName=s1 Nodes=tux[4-7]\nSwitchName=s2 "
                          "Nodes=tux[8-11]\nSwitchName=s3 Nodes=tux[12-15]\nSwitchName=s4 Switches=s[0-3]\n"
                          "SwitchName=s5 Switches=s[0-3]\n");
  EXPECT_EQ(only(l).units[5].children.size(), 4u);
  EXPECT_EQ(topology_address(&only(l), 5, "tux5").address, "s[4-5].s1.tux5");
  EXPECT_EQ(topology_address(&only(l), 5, "tux5").pattern, "switch.switch.node");
}

TEST(Topology, MistakesInATree) {
  const std::string conf = "TopologyPlugin=topology/tree\nNodeName=n[1-4]\n";
  const std::string leafs = "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n";
  expect_in(errors(conf, leafs + "SwitchName=spine1 Switches=leaf1:leaf2\n"), "did you mean leaf1,leaf2?");
  expect_in(errors(conf, leafs + "SwitchName=spine1 Switches=leaf1:leaf2\n"), "topology.conf:3");
  expect_in(errors(conf, leafs + "SwitchName=spine1 Switches=leaf[1,9]\n"), "\"leaf9\" is not a switch");
  expect_in(errors(conf, "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"), "below itself");
  expect_in(errors(conf, leafs + "SwitchName=leaf1 Nodes=n1\n"), "twice");
  expect_in(to_text(loaded(conf, leafs + "SwitchName=s Nodes=n[8-9]\n").notices), "\"n8\" and 1 more are not in slurm.conf");
  expect_in(errors(conf, "SwitchName=s\n"), "neither Nodes nor Switches");
  expect_in(errors(conf, leafs + "SwitchName=s Nodes=n1 Switches=leaf1\n"), "both Nodes and Switches");
  expect_in(errors(conf, ""), "needs SwitchName lines");
  expect_in(errors("TopologyPlugin=topology/torus3d\nNodeName=n1\n", ""), "topology.yaml");
  LoadedConfig l = loaded(conf, "SwitchName=s Nodes=n[1-3]\n");
  expect_in(to_text(l.notices), "1 nodes are not in it, the first is n4");
  l = loaded(conf + "TopologyParam=SwitchAsNodRank,RouteTree,TopoOptional\n", leafs);
  expect_in(to_text(l.notices), "did you mean SwitchAsNodeRank?");
  expect_in(to_text(l.notices), "RouteTree has no effect");
  EXPECT_TRUE(topology_options(l.config).optional);
}

// Guide topology, "Hostlist functions": PartitionName=Ring10 Nodes=ring{ring10}.
TEST(Topology, PartitionsAndNodeSetsOfItsUnits) {
  const std::string nodes = "TopologyPlugin=topology/tree\nNodeName=n[0-7]\n",
                    tree = "SwitchName=top Switches=a,b\nSwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\n";
  LoadedConfig l = loaded(nodes + "NodeSet=left Nodes=switch{a}\nPartitionName=p Nodes=n0,switchwith{n5}\n"
                                  "PartitionName=q Nodes=left,n7\nPartitionName=all Nodes=switch{top}\n",
                          tree);
  auto of = [&](size_t i) { return l.config.partitions.at(i).spec.nodes.to_ranges(); };
  EXPECT_EQ(of(0), "0,4-7");
  EXPECT_EQ(of(1), "0-3,7");
  EXPECT_EQ(of(2), "0-7");
  expect_in(errors(nodes + "PartitionName=p Nodes=switch{c}\n", tree), "\"switch{c}\" means no node of the topology");
  expect_in(errors(nodes + "PartitionName=p Nodes=block{a}\n", tree), "\"block{a}\" means no node of the topology");
  expect_in(errors(nodes + "PartitionName=p Nodes=switchwith{n9}\n", tree), "\"switchwith{n9}\" means no node of the topology");
}

TEST(Topology, Blocks) {
  const std::string conf = "TopologyPlugin=topology/block\nNodeName=n[1-8]\n";
  const std::string blocks = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\n";
  EXPECT_EQ(only(loaded(conf, blocks + "BlockSizes=4,8\n")).block_sizes, (std::vector<uint32_t>{4, 8}));
  EXPECT_EQ(only(loaded(conf, blocks)).block_sizes, (std::vector<uint32_t>{4}));
  expect_in(errors(conf, blocks + "BlockSizes=4,12\n"), "power of two");
  expect_in(errors(conf, blocks + "BlockSizes=5\n"), "fewer");
  expect_in(errors(conf, blocks + "BlockName=b3 Nodes=n[4-5]\n"), "shares nodes");
}

TEST(Topology, RingsKeepTheirOrder) {
  const std::string conf = "TopologyPlugin=topology/ring\nNodeName=n[1-20]\n";
  EXPECT_EQ(only(loaded(conf, "RingName=r0 Nodes=n[3-4,1]\n")).units[0].nodes, (std::vector<uint32_t>{2, 3, 0}));
  expect_in(errors(conf, "RingName=r0 Nodes=n[1-17]\n"), "at most 16");
  expect_in(errors(conf, "RingName=r0 Nodes=n[1,1]\n"), "n1 is there twice");
}

// topology.yaml(5) EXAMPLE.
constexpr char kYaml[] = R"(---
- topology: topo1
  cluster_default: true
  tree:
    switches:
      - switch: sw_root
        children: s[1-2]
      - switch: s1
        nodes: node[01-02]
      - switch: s2
        nodes: node[03-04]
- topology: topo2
  cluster_default: false
  block:
    block_sizes:
      - 4
      - 16
    blocks:
      - block: b1
        nodes: node[01-04]
      - block: b2
        nodes: node[05-08]
      - block: b3
        nodes: node[09-12]
      - block: b4
        nodes: node[13-16]
- topology: topo3
  cluster_default: false
  flat: true
- topology: topo3a
  flat:
    alpha_step_rank: true
- topology: topo4
  ring:
    rings:
      - ring: ring0
        nodes: node[01-08]
      - ring: ring1
        nodes: node[09-16]
- topology: topo5
  cluster_default: false
  torus3d:
    toruses:
      - name: pod1
        dims: {x: 4, y: 4, z: 2}
        nodes: node[01-32]
        placements:
          - dims: {x: 2, y: 2, z: 1}
          - dims: {x: 4, y: 4, z: 2}
            anchor_spacing: {x: 1, y: 1, z: 1}
)";
constexpr char kYamlConf[] = "TopologyPlugin=topology/tree\nNodeName=node[01-32]\nPartitionName=a Nodes=ALL Topology=topo2\n";

TEST(Topology, YamlInPlaceOfConf) {
  LoadedConfig l = loaded(kYamlConf, "SwitchName=ignored Nodes=nosuch\n", kYaml);
  const Topologies& all = l.topology.topologies;
  ASSERT_EQ(all.all.size(), 6u);
  EXPECT_EQ(all.cluster_default()->name, "topo1");
  EXPECT_EQ(all.of(l.config.partitions[0].spec)->name, "topo2");
  EXPECT_EQ(all.find("topo2")->block_sizes, (std::vector<uint32_t>{4, 16}));
  EXPECT_EQ(all.find("topo2")->units.size(), 4u);
  EXPECT_EQ(all.find("topo3")->kind, TopologyKind::kFlat);
  EXPECT_TRUE(all.find("topo3a")->alpha_step_rank);
  EXPECT_EQ(all.find("topo4")->unit("ring1")->nodes.front(), 8u);
  const TopologyUnit* pod = all.find("topo5")->unit("pod1");
  EXPECT_EQ(pod->nodes.size(), 32u);
  EXPECT_EQ(pod->placements[0].anchor_spacing, (Cell3d{2, 2, 1}));
  EXPECT_EQ(pod->placements[1].anchor_spacing, (Cell3d{1, 1, 1}));
}

TEST(Topology, RegionsOfATorus) {
  LoadedConfig l = loaded("NodeName=a[1-4],b[1-4]\n", "", R"(
- topology: t
  torus3d:
    toruses:
      - name: pod
        dims: {x: 2, y: 2, z: 3}
        regions:
          - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 2}, nodes: "a[1-4]"}
          - {anchor: {x: 0, y: 1, z: 1}, dims: {x: 2, y: 1, z: 2}, nodes: "b[1-4]"}
        placements: [{dims: {x: 2, y: 1, z: 1}}]
)");
  const TopologyUnit& pod = only(l).units.at(0);
  EXPECT_EQ(pod.nodes, (std::vector<uint32_t>{0, 1, kNoNode, kNoNode, 2, 3, 4, 5, kNoNode, kNoNode, 6, 7}));
}

TEST(Topology, MistakesInYaml) {
  const std::string conf = "NodeName=n[1-8]\n";
  auto yaml = [&](const std::string& text) { return errors(conf, "", text); };
  expect_in(yaml("- topology: t\n  tre: {}\n"), "topology.yaml:2: tre: is not known in a topology (did you mean tree?");
  expect_in(yaml("- topology: t\n"), "exactly one of flat, tree");
  expect_in(yaml("- topology: t\n  flat: true\n  ring: {rings: []}\n"), "exactly one of flat, tree");
  expect_in(yaml("- topology: t\n  flat: true\n- topology: t\n  flat: true\n"), "defined twice");
  expect_in(yaml("a: b\n"), "must be a list of topologies");
  expect_in(yaml("- topology: [\n"), "not YAML");
  expect_in(to_text(loaded(conf, "", "- topology: t\n  block:\n    blocks:\n      - block: b\n        nodes: n[7-9]\n").notices),
            "topology.yaml:5: nodes: \"n9\" is not in slurm.conf");
  const std::string torus = "- topology: t\n  torus3d:\n    toruses:\n      - name: p\n        dims: ";
  expect_in(yaml(torus + "{x: 0, y: 1, z: 1}\n        nodes: n1\n"), "1 or more");
  expect_in(yaml(torus + "{x: 2, y: 1, z: 1}\n        nodes: n[1-3]\n"), "3 nodes for 2 cells");
  expect_in(yaml(torus + "{x: 2, y: 1, z: 1}\n"), "either nodes or regions");
  expect_in(yaml(torus + "{x: 2, y: 1, z: 1}\n        nodes: n1\n        placements: [{dims: {x: 3, y: 1, z: 1}}]\n"), "fit into p");
  expect_in(errors(conf + "PartitionName=p Nodes=ALL Topology=tip\n", "", "- topology: top\n  flat: true\n"), "did you mean top?");
}

TEST(Topology, OfNodeLines) {
  const std::string topology = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=1\n";
  const std::string head = "TopologyPlugin=topology/block\n";
  LoadedConfig l = loaded(head + "NodeName=n1 Topology=default:b2\nNodeName=n[2-4]\n", topology);
  EXPECT_EQ(only(l).units[0].nodes, (std::vector<uint32_t>{1}));
  EXPECT_EQ(only(l).units[1].nodes, (std::vector<uint32_t>{0, 2, 3}));
  expect_in(errors(head + "NodeName=n1 Topology=default:b9\nNodeName=n[2-4]\n", topology), "there is no block b9");
}

}  // namespace
}  // namespace muster::config
