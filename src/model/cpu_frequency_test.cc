#include "model/cpu_frequency.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(CpuFrequency, TheFormsOfTheOption) {
  EXPECT_EQ(*parse_cpu_frequency("1800000"), (CpuFrequencyWish{"1800000", "", ""}));
  EXPECT_EQ(*parse_cpu_frequency("Low-HighM1:OnDemand"), (CpuFrequencyWish{"low", "highm1", "ondemand"}));
  EXPECT_EQ(*parse_cpu_frequency("Performance"), (CpuFrequencyWish{"", "", "performance"}));
  EXPECT_EQ(*parse_cpu_frequency("medium:userspace"), (CpuFrequencyWish{"medium", "", "userspace"}));
  for (const char* bad : {"", "fast", "low-", "-high", "0", "low:fast", "performance:low", "low-performance"})
    EXPECT_FALSE(parse_cpu_frequency(bad)) << bad;
  for (const char* text : {"1800000", "low-highm1:ondemand", "performance", "medium:userspace", "low-high"})
    EXPECT_EQ(cpu_frequency_text(*parse_cpu_frequency(text)), text);
}

}  // namespace
}  // namespace muster
