#include "slurmd/core/gpu_clock_rules.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

using Texts = std::vector<std::string>;

std::vector<GresDevices> box() {
  GresDevices two, mig;
  two.name = mig.name = "gpu";
  two.count = 2;
  two.files = {"/dev/nvidia3", "/dev/nvidia1"};
  mig.count = 1;
  mig.first_index = 2;
  mig.files = {"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"};
  return {two, mig};
}
std::vector<GresShare> share(const char* name, std::initializer_list<size_t> devices) {
  GresShare s{name, "", devices.size(), {}, {}};
  for (size_t d : devices) s.devices.set(d);
  return {s};
}

TEST(GpuClockRules, TheFilesOfTheGpusHeld) {
  const auto order = gpu_clock_order("gpu:Low,memory=high", "", box(), share("gpu", {1, 2}));
  EXPECT_EQ(order.wish, (GpuFrequencyWish{"low", "high", false}));
  EXPECT_EQ(order.files, (Texts{"/dev/nvidia1", "/dev/nvidia0"}));
  EXPECT_EQ(order.note, "");
}

TEST(GpuClockRules, TheSiteSpeaksForWhoAsksForNothing) {
  EXPECT_EQ(gpu_clock_order("", "medium", box(), share("gpu", {0})).wish, (GpuFrequencyWish{"medium", "", false}));
  EXPECT_EQ(gpu_clock_order("gpu:450", "medium", box(), share("gpu", {0})).wish, (GpuFrequencyWish{"450", "", false}));
  EXPECT_TRUE(gpu_clock_order("", "medium", box(), share("gpu", {0})).by_site);
  EXPECT_FALSE(gpu_clock_order("gpu:450", "medium", box(), share("gpu", {0})).by_site);
  EXPECT_FALSE(gpu_clock_order("", "", box(), share("gpu", {0})).wish);
  EXPECT_EQ(gpu_clock_order("", "medium", box(), {}).note, "");
}

TEST(GpuClockRules, WhoHoldsNoWholeGpuSetsNothingAndIsTold) {
  for (const auto& held : {std::vector<GresShare>(), share("shard", {0})}) {
    const auto order = gpu_clock_order("gpu:low", "", box(), held);
    EXPECT_FALSE(order.wish);
    EXPECT_EQ(order.note, "slurmstepd: error: --gpu-freq=low: the step holds no GPU of its own");
  }
}

}  // namespace
}  // namespace muster::slurmd
