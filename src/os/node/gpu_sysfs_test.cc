// Trees as amdgpu, i915 and xe make them below /sys, in a folder.
#include "os/node/gpu_sysfs.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

class GpuSysfs : public testing::Test {
 protected:
  void put(const std::string& render, const std::string& file, std::string_view text) {
    const std::string path = dir_.path() + "/sys/class/drm/" + render + "/device/" + file;
    ASSERT_TRUE(make_dirs(path.substr(0, path.rfind('/')), 0755));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  GpuReadings read() {
    GpuReadings out;
    read_gpu_sysfs(dir_.path(), out);
    return out;
  }
  GpuReading only() {
    const GpuReadings all = read();
    EXPECT_EQ(all.cards.size(), 1u);
    return all.cards.empty() ? GpuReading() : all.cards.front();
  }
  void amd() { put("renderD128", "vendor", "0x1002\n"); }
  void intel() {
    put("renderD128", "vendor", "0x8086\n");
    put("renderD128", "drm/card1/dev", "226:1\n");
  }
  TempDir dir_ = *TempDir::create("muster-gpu-sysfs-");
};

TEST_F(GpuSysfs, TheCardsOfTheseVendors) {
  amd();
  put("renderD129", "vendor", "0x8086\n");
  put("renderD130", "vendor", "0x10de\n");
  put("card1", "vendor", "0x1002\n");  // the same card by its other file
  const GpuReadings now = read();
  ASSERT_EQ(now.cards.size(), 2u);
  EXPECT_EQ(now.cards[0], (GpuReading{.card = {128, true}})) << "what no file tells is not known";
  EXPECT_EQ(now.cards[1], (GpuReading{.card = {129, true}}));
}

TEST_F(GpuSysfs, ErrorsOfAmdsCards) {
  amd();
  put("renderD128", "ras/umc_err_count", "ue: 2\nce: 17\n");
  put("renderD128", "ras/gfx_err_count", "ue: 1\nce: 0\n");
  put("renderD128", "ras/sdma_err_count", "ue: 3\nce: 0\n");
  put("renderD128", "ras/features", "feature mask: 0x1\n");
  EXPECT_EQ(only().ecc, 2u);
  EXPECT_EQ(only().engine_errors, 4u);
  EXPECT_FALSE(only().retirement_pending);
}

TEST_F(GpuSysfs, PagesOfAmdsMemory) {
  amd();
  put("renderD128", "ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n");
  EXPECT_EQ(only().retirement_pending, false);
  EXPECT_EQ(only().retirement_failed, false);
  put("renderD128", "ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n");
  EXPECT_EQ(only().retirement_pending, true);
  put("renderD128", "ras/gpu_vram_bad_pages", "0x00000003 : 0x00001000 : F\n");
  EXPECT_EQ(only().retirement_failed, true);
}

TEST_F(GpuSysfs, ErrorsOfIntelsCards) {
  intel();
  const std::string counters = "drm/card1/gt/gt0/error_counter/";
  put("renderD128", counters + "correctable_eu_grf", "9\n");
  put("renderD128", counters + "fatal_fpu", "1\n");
  put("renderD128", counters + "soc_fatal_hbm_ss0_0", "2\n");
  put("renderD128", counters + "soc_nonfatal_hbm_ss0_0", "5\n");
  put("renderD128", "drm/card1/gt/gt1/error_counter/fatal_guc", "1\n");
  EXPECT_EQ(only().ecc, 2u);
  EXPECT_EQ(only().engine_errors, 2u);
  EXPECT_EQ(only().lost, "");
}

TEST_F(GpuSysfs, WhatIntelsDriversHaveGivenUp) {
  intel();
  const std::string debug = dir_.path() + "/sys/kernel/debug/dri/1";
  ASSERT_TRUE(make_dirs(debug, 0755));
  ASSERT_TRUE(write_file_atomic(debug + "/i915_wedged", "0\n"));
  EXPECT_EQ(only().lost, "");
  ASSERT_TRUE(write_file_atomic(debug + "/i915_wedged", "1\n"));
  EXPECT_EQ(only().lost, "its driver has given it up (wedged)");
  put("renderD128", "survivability_mode", "Runtime\n");
  EXPECT_EQ(only().lost, "it waits for new firmware (survivability mode)");
}

TEST_F(GpuSysfs, TheBusOfAll) {
  for (const char* vendor : {"0x1002\n", "0x8086\n"}) {
    put("renderD128", "vendor", vendor);
    put("renderD128", "config", std::string("\x02\x10\xff\xff", 4) + std::string(60, '\0'));
    put("renderD128", "aer_dev_fatal", "Undefined 0\nDLP 1\nTOTAL_ERR_FATAL 1\n");
    put("renderD128", "current_link_width", "8\n");
    put("renderD128", "max_link_width", "16\n");
    EXPECT_EQ(only().lost, "");
    EXPECT_EQ(only().bus_fatal, 1u);
    EXPECT_EQ(only().bus_lanes, 8u);
    EXPECT_EQ(only().bus_lanes_most, 16u);
    put("renderD128", "config", std::string(64, '\xff'));
    EXPECT_EQ(only().lost, "it has fallen off the bus");
  }
}

TEST_F(GpuSysfs, FilesThatSayNoSuchThing) {
  amd();
  for (const char* text : {"", "ue: many\n", "ue:\n", "\n\n", "ue: -1\n", "ce: 4\n"}) {
    put("renderD128", "ras/umc_err_count", text);
    EXPECT_FALSE(only().ecc) << text;
  }
}

TEST_F(GpuSysfs, ManyCards) {
  for (size_t i = 0; i < GpuReadings::kMostCards + 3; ++i) put("renderD" + std::to_string(128 + i), "vendor", "0x1002\n");
  EXPECT_EQ(read().cards.size(), GpuReadings::kMostCards);
}

}  // namespace
}  // namespace muster::os
