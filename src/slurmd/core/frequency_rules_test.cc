#include "slurmd/core/frequency_rules.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

const FrequencyRules kSite{"", {"OnDemand", "Performance", "UserSpace"}, true};

TEST(FrequencyRules, WhatIsAskedForAndAllowed) {
  EXPECT_EQ(frequency_order("", kSite).wish.text(), "");
  EXPECT_EQ(frequency_order("Medium", kSite).wish.text(), "medium");
  EXPECT_EQ(frequency_order("performance", kSite).wish.text(), "performance");
  EXPECT_EQ(frequency_order("low-high:OnDemand", kSite).wish.text(), "low-high:ondemand");
  EXPECT_EQ(frequency_order("low-high:OnDemand", kSite).note, "");
}

TEST(FrequencyRules, TheDefaultGovernorFillsIn) {
  FrequencyRules site = kSite;
  site.default_governor = "Performance";
  EXPECT_EQ(frequency_order("", site).wish.text(), "performance");
  EXPECT_EQ(frequency_order("low-high", site).wish.text(), "low-high:performance");
  EXPECT_EQ(frequency_order("low", site).wish.text(), "low");
}

TEST(FrequencyRules, WhatCannotBeIsTold) {
  FrequencyRules loose = kSite;
  loose.confined = false;
  loose.default_governor = "Performance";
  EXPECT_EQ(frequency_order("", loose).wish.text(), "");
  EXPECT_EQ(frequency_order("", loose).note, "");
  EXPECT_EQ(frequency_order("low", loose).note,
            "slurmstepd: error: --cpu-freq=low: tasks are not confined to their CPUs here (TaskPlugin), so no frequency is set");
  EXPECT_EQ(frequency_order("powersave", kSite).note,
            "slurmstepd: error: --cpu-freq=powersave: the governor is not one of CpuFreqGovernors=OnDemand,Performance,UserSpace");
  EXPECT_EQ(frequency_order("low-high", kSite).note, "slurmstepd: error: --cpu-freq=low-high: a range needs a governor, or CpuFreqDef");
  EXPECT_EQ(frequency_order("low-high:userspace", kSite).wish.text(), "");
}

}  // namespace
}  // namespace muster::slurmd
