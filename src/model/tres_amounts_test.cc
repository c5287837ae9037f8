// Amounts of TRES: what adds up, what is listed, and the one text of it.
#include "model/tres_amounts.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

NodeShare share_with_devices(const std::string& type) {
  NodeShare s;
  s.cpus.set_range(0, 4);
  s.mem_mb = 8192;
  s.gres.push_back({"gpu", type, 2, {}, {}});
  return s;
}

TEST(TresAmounts, AreSpelledInOneOrder) {
  TresAmounts all{.cpus = 4, .mem_mb = 1536, .nodes = 2, .billing = 4, .licenses = {{"matlab", 1}, {"ansys", 3}}};
  all.add_gres("gpu", "h100", 2);
  all.add_gres("nic", "", 1);
  EXPECT_EQ(tres_text(all), "cpu=4,mem=1.50G,node=2,billing=4,gres/gpu=2,gres/nic=1,gres/gpu:h100=2,license/matlab=1,license/ansys=3");
}

TEST(TresAmounts, A0IsListedOnlyWhereItIsThere) {
  EXPECT_TRUE(TresAmounts().empty());
  EXPECT_EQ(tres_text({}), "");
  TresAmounts nothing{.cpus = 0, .mem_mb = 0, .nodes = 0};
  EXPECT_FALSE(nothing.empty());
  nothing.bill();
  EXPECT_EQ(tres_text(nothing), "cpu=0,mem=0,node=0,billing=0");
  TresAmounts held;
  held.hold(NodeShare());
  EXPECT_EQ(held, TresAmounts{.nodes = 1});
  held.add_gres("gpu", "", 0);  // a device is there once it is named
  EXPECT_EQ(tres_text(held), "node=1,gres/gpu=0");
}

TEST(TresAmounts, OfANodeDoNotCountIt) {
  NodeSpec spec;
  spec.cpus = 8;
  spec.real_memory_mb = 4000;
  spec.gres.resize(2);
  spec.gres[0].name = spec.gres[1].name = "gpu";
  spec.gres[0].type = "a100";
  spec.gres[0].count = spec.gres[1].count = 1;
  TresAmounts configured;
  configured.configure(spec);
  EXPECT_EQ(tres_text(configured), "cpu=8,mem=4000M,gres/gpu=2,gres/gpu:a100=1");
  Node node;
  node.cpus_used.set_range(0, 3);
  node.mem_used_mb = 1000;
  node.gres_used = {{"gpu", "a100", 1, {}, {}}};
  TresAmounts used;
  used.use(node);
  EXPECT_EQ(tres_text(used), "cpu=3,mem=1000M,gres/gpu=1,gres/gpu:a100=1");
}

TEST(TresAmounts, AStepHoldsCpusOfItsOwn) {
  StepShare share;
  share.cpus.set_range(2, 4);
  share.mem_mb = 100;
  TresAmounts held;
  held.hold(share);
  held.hold(share);
  EXPECT_EQ(held, (TresAmounts{.cpus = 4, .mem_mb = 200, .nodes = 2}));
}

TEST(TresAmounts, TypesAreSummedAndKeptApart) {
  TresAmounts held{.cpus = 0, .nodes = 0};
  for (const char* type : {"h100", "a100", "h100", ""}) held.hold(share_with_devices(type));
  EXPECT_EQ(tres_text(held), "cpu=16,mem=32G,node=4,gres/gpu=8,gres/gpu:a100=2,gres/gpu:h100=4");
  held.keep_gres({"gres/gpu", "gres/gpu:a100"});
  EXPECT_EQ(tres_text(held), "cpu=16,mem=32G,node=4,gres/gpu=8,gres/gpu:a100=2");
  held.keep_gres({"gres/gpu:a100"});
  EXPECT_EQ(held.gres, (std::vector{GresAmount{"gpu", "a100", 2}}));
}

TEST(TresAmounts, TextsOfOldRecordsAreRead) {
  for (const char* text : {"", "cpu=4", "cpu=4,mem=8G,node=1,billing=4,gres/gpu=2,gres/gpu:H100=2,license/matlab=1", "cpu=0,node=0",
                           "cpu=1,mem=1.50G,node=1", "mem=1500M"})
    EXPECT_EQ(tres_text(TresAmounts::from_text(text)), text);
  EXPECT_EQ(tres_text(TresAmounts::from_text("cpu=x,node=2,fs/disk=7,=3,gres/,mem=,gres/gpu=99999999999999999999")), "mem=0,node=2");
}

}  // namespace
}  // namespace muster
