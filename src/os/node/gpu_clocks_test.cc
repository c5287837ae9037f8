#include "os/node/gpu_clocks.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::os {
namespace {

// On the stand-in for NVIDIA's library.
GpuClocksSet set_on(const char* machine, const GpuFrequencyWish& wish, const std::vector<std::string>& files) {
  setenv("MUSTER_FAKE_NVML", machine, 1);
  auto done = set_gpu_clocks(wish, files, MUSTER_FAKE_NVML_PATH);
  EXPECT_TRUE(done) << done.error().message();
  return done ? *done : GpuClocksSet{};
}
using Texts = std::vector<std::string>;

TEST(GpuClocks, NamesAndNumbers) {
  EXPECT_EQ(set_on("h100", {"1000", "", false}, {"/dev/nvidia3"}).told, (Texts{"/dev/nvidia3: graphics 1200 MHz, memory 2619 MHz"}));
  EXPECT_EQ(set_on("h100", {"high", "low", false}, {"/dev/nvidia4"}).told, (Texts{"/dev/nvidia4: graphics 600 MHz, memory 1593 MHz"}));
  EXPECT_EQ(set_on("h100", {"highm1", "high", false}, {"/dev/nvidia5"}).told, (Texts{"/dev/nvidia5: graphics 1965 MHz, memory 2619 MHz"}));
}

TEST(GpuClocks, VerboseAloneChangesNothing) {
  const GpuClocksSet done = set_on("h100", {"", "", true}, {"/dev/nvidia0"});
  EXPECT_TRUE(done.changed.empty());
  EXPECT_EQ(done.told, (Texts{"/dev/nvidia0: graphics 1965 MHz, memory 2619 MHz"}));
}

TEST(GpuClocks, WhatCannotBeIsToldAndTheOthersAreSet) {
  const GpuClocksSet lost = set_on("dead", {"low", "", false}, {"/dev/nvidia2", "/dev/nvidia3", "/dev/dri/card0"});
  EXPECT_EQ(lost.changed, (Texts{"/dev/nvidia3"}));
  EXPECT_EQ(lost.faults,
            (Texts{"/dev/nvidia2: no card that NVIDIA's library knows", "/dev/dri/card0: no card that NVIDIA's library knows"}));
  EXPECT_EQ(set_on("mig", {"low", "", false}, {"/dev/nvidia0"}).faults,
            (Texts{"/dev/nvidia0: MIG instances share the clocks of their card"}));
  setenv("MUSTER_FAKE_NVML", "broken", 1);
  EXPECT_EQ(set_gpu_clocks({"low", "", false}, {}, MUSTER_FAKE_NVML_PATH).error().message(), "--gpu-freq: Driver Not Loaded");
  EXPECT_FALSE(set_gpu_clocks({"low", "", false}, {}, "libm.so.6"));
}

TEST(GpuClocks, ResetIsTheHighest) {
  ASSERT_TRUE(dlopen(MUSTER_FAKE_NVML_PATH, RTLD_NOW));  // it keeps what was set as long as it is loaded, as a driver does
  set_on("h100", {"low", "low", false}, {"/dev/nvidia6"});
  EXPECT_TRUE(reset_gpu_clocks({"/dev/nvidia6"}, MUSTER_FAKE_NVML_PATH)->empty());
  EXPECT_EQ(set_on("h100", {"", "", true}, {"/dev/nvidia6"}).told, (Texts{"/dev/nvidia6: graphics 1980 MHz, memory 2619 MHz"}));
}

}  // namespace
}  // namespace muster::os
