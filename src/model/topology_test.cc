#include "model/topology.h"

#include <gtest/gtest.h>

#include "model/partition.h"

namespace muster {
namespace {

Topologies one(Topology t) {
  Topologies out;
  t.name = "default";
  out.all.push_back(std::move(t));
  return out;
}

Topology tree() {
  Topology t{.kind = TopologyKind::kTree};
  t.units.push_back({.name = "spine", .children = {1, 2}});
  t.units.push_back({.name = "leaf1", .nodes = {0, 1}});
  t.units.push_back({.name = "leaf2", .nodes = {2, 3}});
  return t;
}

TEST(Topology, AddressFromTheTopDown) {
  const Topology t = tree();
  EXPECT_EQ(topology_address(&t, 2, "n3").address, "spine.leaf2.n3");
  EXPECT_EQ(topology_address(&t, 2, "n3").pattern, "switch.switch.node");
  EXPECT_EQ(topology_address(&t, 9, "n10").address, "n10");
  EXPECT_EQ(topology_address(nullptr, 2, "n3").address, "");
  EXPECT_EQ(placed_at(one(t), 3), "default:leaf2");
}

TEST(Topology, ANodeMoves) {
  Topologies t = one(tree());
  ASSERT_TRUE(place_node(t, 0, "default:leaf2"));
  EXPECT_EQ(t.all[0].units[1].nodes, (std::vector<uint32_t>{1}));
  EXPECT_EQ(t.all[0].units[2].nodes, (std::vector<uint32_t>{0, 2, 3}));
  ASSERT_TRUE(place_node(t, 7, "default:spine:leaf3"));
  EXPECT_EQ(topology_address(&t.all[0], 7, "d7").address, "spine.leaf3.d7");
  ASSERT_TRUE(place_node(t, 7, "default:top2:mid:leaf4"));
  EXPECT_EQ(topology_address(&t.all[0], 7, "d7").address, "top2.mid.leaf4.d7");
  ASSERT_TRUE(place_node(t, 7, ""));
  EXPECT_EQ(placed_at(t, 7), "");
}

TEST(Topology, APlaceThatCannotBe) {
  Topologies t = one(tree());
  const Topologies before = t;
  for (const char* text : {"default", "default:", "other:leaf1", "default:leaf9", "default:spine", "default:leaf1:leaf3",
                           "default:leaf1,default:spine:leaf1:leaf2"})
    EXPECT_FALSE(place_node(t, 0, text)) << text;
  EXPECT_EQ(t, before);
}

TEST(Topology, RingsAndTori) {
  Topology ring{.kind = TopologyKind::kRing};
  Topologies t = one(ring);
  EXPECT_FALSE(place_node(t, 4, "default:r:1"));
  ASSERT_TRUE(place_node(t, 4, "default:r:0"));
  EXPECT_FALSE(place_node(t, 5, "default:r:0"));
  EXPECT_FALSE(place_node(t, 5, "default:r:2"));
  ASSERT_TRUE(place_node(t, 5, "default:r:1"));
  EXPECT_EQ(placed_at(t, 5), "default:r:1");
  ASSERT_TRUE(place_node(t, 4, ""));
  EXPECT_EQ(t.all[0].units[0].nodes, (std::vector<uint32_t>{kNoNode, 5}));

  Topology torus{.kind = TopologyKind::kTorus3d};
  torus.units.push_back({.name = "pod", .nodes = std::vector<uint32_t>(24, kNoNode), .dims = {4, 3, 2}});
  t = one(torus);
  EXPECT_FALSE(place_node(t, 1, "default:pod:4:0:0"));
  EXPECT_FALSE(place_node(t, 1, "default:pod:1:0"));
  ASSERT_TRUE(place_node(t, 1, "default:pod:3:2:1"));
  EXPECT_EQ(t.all[0].units[0].nodes[23], 1u);
  EXPECT_EQ(placed_at(t, 1), "default:pod:3:2:1");
}

TEST(Topology, APartitionChooses) {
  Topologies t;
  t.all.push_back({.name = "a"});
  t.all.push_back({.name = "b", .cluster_default = true});
  Partition p;
  EXPECT_EQ(t.of(p)->name, "b");
  p.topology = "a";
  EXPECT_EQ(t.of(p)->name, "a");
  EXPECT_EQ(Topologies().of(p), nullptr);
}

}  // namespace
}  // namespace muster
