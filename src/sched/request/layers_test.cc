#include <gtest/gtest.h>

#include <map>

#include "sched/request/layers_testing.h"

namespace muster::sched {
namespace {

struct Pools {
  Params params = with_layers(hierarchies({hres_flat(), hres_natural(), hres_power()}));
  std::map<std::string, uint64_t> held;

  LayerRoom room(const std::string& asked) const {
    return {params, *LicenseNeeds::parse(asked), [&](size_t i) {
              const auto& [name, count] = params.licenses[i];
              const auto it = held.find(name);
              return count - std::min(count, it == held.end() ? 0 : it->second);
            }};
  }
  // What a job on these nodes holds, "" if it may not start there; it holds it from now on.
  std::string start(const std::string& asked, uint32_t first, uint32_t last) {
    Allocation on;
    for (uint32_t n = first; n <= last; ++n) on.nodes.push_back({.node = NodeId(n)});
    const auto shares = room(asked).shares(on);
    std::string out;
    if (shares)
      for (const LicenseShare& l : *shares) {
        held[l.name] += l.count;
        out += (out.empty() ? "" : " ") + l.name + "=" + std::to_string(l.count);
      }
    return out;
  }
  std::string ever(const std::string& asked, uint32_t nodes = 1) const {
    const auto got = layers_could_ever(params, *LicenseNeeds::parse(asked), nodes);
    return got ? "yes" : got.error().hint;
  }
};

Bitmap nodes_of(uint32_t first, uint32_t last) {
  Bitmap out;
  out.set_range(first, last + 1);
  return out;
}

// Guide hres, Mode 1: 100 in each group of 16, and 50 more that any of them may have.
TEST(Layers, Mode1DrawsFromOneLayerTheSmallestFirst) {
  Pools p;
  EXPECT_EQ(p.start("natural:100", 0, 3), "natural(n[0-15])=100");
  EXPECT_EQ(p.start("natural:20", 0, 3), "natural(n[0-31])=20");
  EXPECT_EQ(p.start("natural:30", 4, 5), "natural(n[0-31])=30");
  EXPECT_EQ(p.start("natural", 4, 5), "");
  EXPECT_EQ(p.room("natural").open(), nodes_of(16, 31));
  EXPECT_EQ(p.start("natural:60", 16, 31), "natural(n[16-31])=60");
  EXPECT_EQ(p.start("natural:40", 31, 31), "natural(n[16-31])=40");  // 250 in all
  EXPECT_TRUE(p.room("natural").open().none());
  EXPECT_EQ(p.room("natural").lacking(1), "natural: 1 are asked for; layer n[0-15] has 0 left of 100");
}

TEST(Layers, Mode1OverlapsWithWhatTheJobHasOfIt) {
  Pools p;
  EXPECT_EQ(p.start("natural:60", 13, 16), "natural(n[0-15])=60");  // no layer with 60 has all four; most of them are in this one
  EXPECT_EQ(p.start("natural:50", 15, 18), "natural(n[0-31])=50");  // one layer has all four
  EXPECT_EQ(p.start("natural:41", 0, 1), "");
}

// Guide hres, Mode 2: 12, 16 and 24 at once, so 24 in all though the lowest layers have 48.
TEST(Layers, Mode2DrawsFromEveryLayerThatTouches) {
  Pools p;
  EXPECT_EQ(p.start("flat:12", 0, 3), "flat(n[0-7])=12 flat(n[0-15])=12 flat(n[0-31])=12");
  EXPECT_EQ(p.start("flat", 0, 0), "");
  EXPECT_EQ(p.room("flat:5").open(), nodes_of(16, 31));
  EXPECT_EQ(p.room("flat:4").open(), nodes_of(8, 31));
  EXPECT_EQ(p.start("flat:4", 8, 23), "flat(n[8-15])=4 flat(n[16-23])=4 flat(n[0-15])=4 flat(n[16-31])=4 flat(n[0-31])=4");
  EXPECT_EQ(p.start("flat:8", 24, 24), "flat(n[24-31])=8 flat(n[16-31])=8 flat(n[0-31])=8");
  EXPECT_TRUE(p.room("flat").open().none());
  EXPECT_EQ(p.room("flat").lacking(1), "flat: 1 are asked for; layer n[0-31] has 0 left of 24");
}

// Guide hres, Mode 3: 1000 on each of 16 nodes are 8000, 8000, 16000 and 16000.
TEST(Layers, Mode3SumsUpPerNode) {
  Pools p;
  EXPECT_EQ(p.start("power:1000", 0, 15), "power(n[0-7])=8000 power(n[8-15])=8000 power(n[0-15])=16000 power(n[0-31])=16000");
  EXPECT_EQ(p.start("power:4000", 0, 7), "");  // 27000 are left there: base amounts count
  EXPECT_EQ(p.start("power:3375", 0, 7), "power(n[0-7])=27000 power(n[0-15])=27000 power(n[0-31])=27000");
  EXPECT_TRUE(p.room("power").limits());
  EXPECT_EQ(p.room("power:10000").lacking(2),
            "power: 10000 are asked for on each of 2 nodes; layer n[0-15] has 9000 left of 60000, 8000 of which no job has");
}

TEST(Layers, Mode3LeavesAsManyNodesAsThereIsRoomFor) {
  Pools p;
  const LayerRoom room = p.room("power:10000");  // 3 and 4 of 8 nodes, 5 of the first 16, 7 of the others, 10 of all
  EXPECT_EQ(room.open(), nodes_of(0, 31));
  EXPECT_FALSE(room.has_room_for(nodes_of(0, 3)));
  EXPECT_TRUE(room.has_room_for(nodes_of(0, 2)));
  EXPECT_EQ(room.most_of(nodes_of(0, 7)), 3u);
  EXPECT_EQ(room.most_of(nodes_of(0, 15)), 5u);
  EXPECT_EQ(room.most_of(nodes_of(16, 31)), 7u);
  EXPECT_EQ(room.most_of(nodes_of(0, 31)), 10u);
  const std::vector<uint32_t> order = {7, 6, 5, 4, 8, 9, 10, 11};
  EXPECT_EQ(room.take(order).to_ranges(), "5-9");
  EXPECT_EQ(room.take(std::vector<uint32_t>{3, 3, 3, 40}).to_ranges(), "3");
}

TEST(Layers, SeveralResourcesLeaveWhatAllOfThemLeave) {
  Pools p;
  p.held["flat(n[0-7])"] = 12;
  p.held["natural(n[16-31])"] = 100;
  p.held["natural(n[0-31])"] = 50;
  EXPECT_EQ(p.room("flat:2,natural:1").open(), nodes_of(8, 15));
  EXPECT_EQ(p.start("flat:2,natural:1", 8, 8), "flat(n[8-15])=2 flat(n[0-15])=2 flat(n[0-31])=2 natural(n[0-15])=1");
  EXPECT_EQ(p.start("flat:2,natural:1", 7, 8), "");
}

TEST(Layers, EndlessAndEmptyLayers) {
  Hres one{"one", HresMode::kOne, {}, {}, {a_layer("one", 0, 3, 0), a_layer("one", 0, 7, HresLayer::kEndless)}};
  Hres all{"all", HresMode::kAll, {}, {}, {a_layer("all", 0, 3, 0), a_layer("all", 0, 7, HresLayer::kEndless)}};
  Pools p;
  p.params = with_layers(hierarchies({one, all}));
  EXPECT_EQ(p.start("one:4000000000", 0, 0), "one(n[0-7])=4000000000");
  EXPECT_EQ(p.room("one:4000000000").open(), nodes_of(0, 7));
  EXPECT_EQ(p.room("all").open(), nodes_of(4, 7));
  EXPECT_EQ(p.start("all:7", 4, 4), "all(n[0-7])=7");
}

TEST(Layers, CouldEver) {
  const Pools p;
  EXPECT_EQ(p.ever("flat:12,natural:100,power:35000"), "yes");
  EXPECT_EQ(p.ever("flat:13"), "flat: 13 are asked for; layer n[0-7] has 12 left of 12");
  EXPECT_EQ(p.ever("natural:101"), "natural: 101 are asked for; layer n[0-15] has 100 left of 100");
  EXPECT_EQ(p.ever("power:10000", 10), "yes");
  EXPECT_NE(p.ever("power:10000", 11), "yes");
  EXPECT_EQ(p.ever("power:half_node"), "\"power:half_node\": resources.yaml has no such variable of it");
  EXPECT_EQ(p.ever("matlab:some"), "\"matlab:some\": the count is no number");
  EXPECT_EQ(p.ever("natural(n[0-15]):3"), "\"natural(n[0-15])\": a job asks for the resource, which layer it is from depends on its nodes");
  EXPECT_EQ(p.ever("flat|natural"), "flat is a hierarchical resource, which cannot be one of several (a|b)");
  EXPECT_EQ(p.ever("matlab"), "yes");  // the licences' own rule says whether it is there
  Params two = with_layers(hierarchies({hres_power(), [] {
                                          Hres other = hres_power();
                                          other.name = "heat";
                                          return other;
                                        }()}));
  EXPECT_FALSE(layers_could_ever(two, *LicenseNeeds::parse("power:1,heat:1"), 1));
}

TEST(Layers, WhatAJobThatShrinksKeeps) {
  const Pools p;
  Allocation held;
  for (uint32_t n = 6; n < 10; ++n) held.nodes.push_back({.node = NodeId(n)});
  held.licenses = {{"matlab", 3},       {"power(n[0-7])", 2000}, {"power(n[8-15])", 2000}, {"power(n[0-15])", 4000},
                   {"flat(n[0-7])", 5}, {"flat(n[8-15])", 5},    {"natural(n[0-15])", 9},  {"gone(n[1-2])", 7}};
  std::string out;
  for (const LicenseShare& l : layers_left(p.params, held, nodes_of(6, 6))) out += l.name + "=" + std::to_string(l.count) + " ";
  EXPECT_EQ(out, "matlab=3 power(n[0-7])=1000 power(n[0-15])=1000 flat(n[0-7])=5 natural(n[0-15])=9 gone(n[1-2])=7 ");
}

TEST(Layers, ArePoolsBehindTheLicences) {
  Params p;
  p.licenses = {{"matlab", 3}};
  set_layers(p, hierarchies({hres_natural()}));
  set_layers(p, hierarchies({hres_natural()}));
  ASSERT_EQ(p.licenses.size(), 4u);
  EXPECT_EQ(p.licenses[3].first, "natural(n[0-31])");
  EXPECT_EQ(p.layers, 3u);
  EXPECT_TRUE(asks_layers(p, *LicenseNeeds::parse("matlab,natural")));
  EXPECT_FALSE(asks_layers(p, *LicenseNeeds::parse("matlab")));
  EXPECT_EQ(plain_licenses(p, *LicenseNeeds::parse("matlab,natural")).size(), 1u);
  set_layers(p, nullptr);
  EXPECT_EQ(p.licenses.size(), 1u);
}

}  // namespace
}  // namespace muster::sched
