#include "model/gpu_frequency.h"

#include <gtest/gtest.h>

#include "model/clock_choice.h"

namespace muster {
namespace {

TEST(GpuFrequency, Texts) {
  EXPECT_EQ(GpuFrequencyWish::parse("medium,memory=high").value(), (GpuFrequencyWish{"medium", "high", false}));
  EXPECT_EQ(GpuFrequencyWish::parse("450").value(), (GpuFrequencyWish{"450", "", false}));
  EXPECT_EQ(GpuFrequencyWish::parse("Memory=HighM1,VERBOSE").value(), (GpuFrequencyWish{"", "highm1", true}));
  for (const char* bad : {"fast", "memory=", "gpu=low", "0", "low,high", "memory=1,memory=2", "100001", ""})
    EXPECT_FALSE(GpuFrequencyWish::parse(bad)) << bad;
}

TEST(GpuFrequency, TheNearestClockThereIs) {
  const uint32_t clocks[] = {1980, 210, 1200, 600, 1965, 600};
  EXPECT_EQ(choose_clock("low", clocks), 210u);
  EXPECT_EQ(choose_clock("medium", clocks), 1200u);
  EXPECT_EQ(choose_clock("high", clocks), 1980u);
  EXPECT_EQ(choose_clock("highm1", clocks), 1965u);
  EXPECT_EQ(choose_clock("700", clocks), 600u);
  EXPECT_EQ(choose_clock("5000", clocks), 1980u);
  EXPECT_EQ(choose_clock("1", clocks), 210u);
  const uint32_t one[] = {877};
  EXPECT_EQ(choose_clock("highm1", one), 877u);
  EXPECT_EQ(choose_clock("low", {}), 0u);
}

}  // namespace
}  // namespace muster
