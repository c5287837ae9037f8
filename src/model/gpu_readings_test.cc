#include "model/gpu_readings.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

GpuReadings box() {
  GpuReadings out;
  out.cards.push_back({.minor = 0,
                       .ecc = 0,
                       .ecc_lifetime = 3,
                       .remap_pending = false,
                       .remap_failed = true,
                       .throttled = 0x40,
                       .links = {{0, true, 0}, {5, false, 12}}});
  out.cards.push_back({.minor = 1});
  out.cards.push_back({.minor = 2, .lost = "GPU is lost"});
  out.xids.push_back({.record = 512, .minor = 2, .number = 79});
  out.log_end = 513;
  return out;
}

TEST(GpuReadings, TextAndBack) {
  EXPECT_EQ(box().text(), "card 0 ecc=0 ecc_lifetime=3 remap_pending=0 remap_failed=1 throttled=64 links=0:1:0,5:0:12\ncard 1\nlost 2 GPU "
                          "is lost\nxid 2 512 79\nlog 513\nend\n");
  EXPECT_EQ(GpuReadings::parse(box().text()).value(), box());
  GpuReadings broken;
  broken.fault = "Driver Not Loaded\nend";
  EXPECT_EQ(broken.text(), "fault Driver Not Loaded end\nend\n");
  EXPECT_EQ(GpuReadings::parse(broken.text())->fault, "Driver Not Loaded end");
}

TEST(GpuReadings, WhatIsNoneOfThem) {
  for (const char* text : {"", "card 0 ecc=1\n", "end\ncard 0\n", "card x\nend\n", "card 0 ecc=-1\nend\n", "card 0 heat=1\nend\n",
                           "card\nend\n", "card 0 links=0:1\nend\n", "card 0 links=99:1:0\nend\n", "card 0 links=1:2:0\nend\n",
                           "lost 1\nend\n", "lost 70000 x\nend\n", "xid 1 2\nend\n", "xid 1 2 -3\nend\n", "log x\nend\n"})
    EXPECT_FALSE(GpuReadings::parse(text)) << text;
  std::string many;
  for (size_t i = 0; i <= GpuReadings::kMostCards; ++i) many += "card 0\n";
  EXPECT_FALSE(GpuReadings::parse(many + "end\n"));
  many.clear();
  for (size_t i = 0; i <= GpuReadings::kMostXids; ++i) many += "xid 0 1 79\n";
  EXPECT_FALSE(GpuReadings::parse(many + "end\n"));
}

}  // namespace
}  // namespace muster
