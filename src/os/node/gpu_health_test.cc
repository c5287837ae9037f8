#include "os/node/gpu_health.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

class GpuHealth : public testing::Test {
 protected:
  void SetUp() override { ::setenv("MUSTER_FAKE_NVML_HEALTH", file_.c_str(), 1); }
  void TearDown() override {
    ::unsetenv("MUSTER_FAKE_NVML");
    ::unsetenv("MUSTER_FAKE_NVML_HEALTH");
  }
  GpuReadings on(const char* machine, std::string_view health = "") {
    ::setenv("MUSTER_FAKE_NVML", machine, 1);
    EXPECT_TRUE(write_file_atomic(file_, health));
    return read_gpu_health(MUSTER_FAKE_NVML_PATH);
  }
  TempDir dir_ = *TempDir::create("muster-gpu-health-");
  const std::string file_ = dir_.path() + "/health";
};

TEST_F(GpuHealth, OfAWholeMachine) {
  const GpuReadings now = on("h100");
  EXPECT_EQ(now.fault, "");
  ASSERT_EQ(now.cards.size(), 8u);
  for (const GpuReading& card : now.cards) {
    EXPECT_EQ(card.lost, "");
    EXPECT_EQ(card.ecc, 0u);
    EXPECT_EQ(card.remap_failed, false);
    EXPECT_EQ(card.throttled, 0u);
    ASSERT_EQ(card.links.size(), 18u);
    EXPECT_FALSE(card.links[5].active);
    EXPECT_TRUE(card.links[6].active);
  }
  EXPECT_EQ(GpuReadings::parse(now.text()).value(), now);
}

TEST_F(GpuHealth, OfWhatIsBroken) {
  const GpuReadings now = on("h100", "ecc 0 4 9\nretired 1\nremap 2 1 1\ndown 3 17\nerrors 3 2 40\nthrottle 4 72\nlost 7\n");
  ASSERT_EQ(now.cards.size(), 8u);
  EXPECT_EQ(now.cards[0].ecc, 4u);
  EXPECT_EQ(now.cards[0].ecc_lifetime, 9u);
  EXPECT_EQ(now.cards[1].ecc, 0u);
  EXPECT_EQ(now.cards[1].retirement_pending, true);
  EXPECT_EQ(now.cards[2].remap_pending, true);
  EXPECT_EQ(now.cards[2].remap_failed, true);
  EXPECT_FALSE(now.cards[3].links[17].active);
  EXPECT_EQ(now.cards[3].links[2].errors, 40u);
  EXPECT_EQ(now.cards[4].throttled, 72u);
  EXPECT_EQ(now.cards[7].card, (GpuId{7}));
  EXPECT_EQ(now.cards[7].lost, "GPU is lost");
}

TEST_F(GpuHealth, OfADriverThatDoesNotStart) {
  EXPECT_EQ(on("broken").fault, "health of GPUs: Driver Not Loaded");
  EXPECT_EQ(on("h100", "gone\n").fault, "health of GPUs: Driver Not Loaded");
  EXPECT_NE(read_gpu_health("/nowhere/libnvidia-ml.so.1").fault, "");
}

}  // namespace
}  // namespace muster::os
