#include "model/gpu_readings.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

GpuReadings box() {
  GpuReadings out;
  out.cards.push_back({.card = {0},
                       .ecc = 0,
                       .ecc_lifetime = 3,
                       .remap_pending = false,
                       .remap_failed = true,
                       .throttled = 0x40,
                       .links = {{0, true, 0}, {5, false, 12}}});
  out.cards.push_back({.card = {1}});
  out.cards.push_back({.card = {2}, .lost = "GPU is lost"});
  out.cards.push_back(
      {.card = {129, true}, .ecc = 2, .engine_errors = 1, .retirement_failed = true, .bus_fatal = 4, .bus_lanes = 8, .bus_lanes_most = 16});
  out.logged.push_back({.record = 512, .card = {2}, .number = 79});
  out.logged.push_back({.record = 512, .card = {129, true}, .number = 3});
  out.log_end = 513;
  return out;
}

TEST(GpuReadings, TextAndBack) {
  EXPECT_EQ(box().text(), "card 0 ecc=0 ecc_lifetime=3 throttled=64 remap_pending=0 remap_failed=1 links=0:1:0,5:0:12\ncard 1\nlost 2 GPU "
                          "is lost\ncard renderD129 ecc=2 engine_errors=1 bus_fatal=4 bus_lanes=8 bus_lanes_most=16 retirement_failed=1\n"
                          "logged 2 512 79\nlogged renderD129 512 3\nlog 513\nend\n");
  EXPECT_EQ(GpuReadings::parse(box().text()).value(), box());
  GpuReadings broken;
  broken.fault = "Driver Not Loaded\nend";
  EXPECT_EQ(broken.text(), "fault Driver Not Loaded end\nend\n");
  EXPECT_EQ(GpuReadings::parse(broken.text())->fault, "Driver Not Loaded end");
}

TEST(GpuId, OfADeviceFile) {
  EXPECT_EQ(GpuId::of_file("/dev/nvidia3"), (GpuId{3}));
  EXPECT_EQ(GpuId::of_file("/tmp/root/dev/dri/renderD129"), (GpuId{129, true}));
  for (const char* path : {"", "/dev/nvidiactl", "/dev/nvidia-caps/nvidia-cap3", "/dev/dri/card1", "/dev/dri/renderD", "/dev/nvidia99999"})
    EXPECT_FALSE(GpuId::of_file(path)) << path;
  EXPECT_EQ(GpuId::parse("renderD129"), (GpuId{129, true}));
  EXPECT_EQ((GpuId{129, true}).text(), "renderD129");
}

TEST(GpuReadings, WhatIsNoneOfThem) {
  for (const char* text :
       {"", "card 0 ecc=1\n", "end\ncard 0\n", "card x\nend\n", "card 0 ecc=-1\nend\n", "card 0 heat=1\nend\n", "card\nend\n",
        "card 0 links=0:1\nend\n", "card 0 links=99:1:0\nend\n", "card 0 links=1:2:0\nend\n", "lost 1\nend\n", "lost 70000 x\nend\n",
        "logged 1 2\nend\n", "logged 1 2 -3\nend\n", "logged card1 2 3\nend\n", "card renderD\nend\n", "log x\nend\n"})
    EXPECT_FALSE(GpuReadings::parse(text)) << text;
  std::string many;
  for (size_t i = 0; i <= GpuReadings::kMostCards; ++i) many += "card 0\n";
  EXPECT_FALSE(GpuReadings::parse(many + "end\n"));
  many.clear();
  for (size_t i = 0; i <= GpuReadings::kMostLogged; ++i) many += "logged 0 1 79\n";
  EXPECT_FALSE(GpuReadings::parse(many + "end\n"));
}

}  // namespace
}  // namespace muster
