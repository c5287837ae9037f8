#include "model/cpu_frequency.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(CpuFrequency, TheFormsOfTheOption) {
  EXPECT_EQ(*CpuFrequencyWish::parse("1800000"), (CpuFrequencyWish{"1800000", "", ""}));
  EXPECT_EQ(*CpuFrequencyWish::parse("Low-HighM1:OnDemand"), (CpuFrequencyWish{"low", "highm1", "ondemand"}));
  EXPECT_EQ(*CpuFrequencyWish::parse("Performance"), (CpuFrequencyWish{"", "", "performance"}));
  EXPECT_EQ(*CpuFrequencyWish::parse("medium:userspace"), (CpuFrequencyWish{"medium", "", "userspace"}));
  for (const char* bad : {"", "fast", "low-", "-high", "0", "low:fast", "performance:low", "low-performance"})
    EXPECT_FALSE(CpuFrequencyWish::parse(bad)) << bad;
  for (const char* text : {"1800000", "low-highm1:ondemand", "performance", "medium:userspace", "low-high"})
    EXPECT_EQ(cpu_frequency_text(*CpuFrequencyWish::parse(text)), text);
}

}  // namespace
}  // namespace muster
