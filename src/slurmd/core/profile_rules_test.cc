#include "slurmd/core/profile_rules.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

const ProfileRules kSite{"/p", {}, true, true, 30, 5};

TEST(ProfileRules, WhatIsAskedForIsRecorded) {
  const ProfileOrder order = profile_order("task", kSite);
  ASSERT_TRUE(order.profile);
  EXPECT_TRUE(order.profile->task && !order.profile->energy);
  EXPECT_EQ(order.profile->directory, "/p");
  EXPECT_EQ(order.note, "");
  EXPECT_TRUE(profile_order("energy", kSite).profile->energy);
  EXPECT_FALSE(profile_order("", kSite).profile);
  EXPECT_FALSE(profile_order("none", kSite).profile);
}

TEST(ProfileRules, TheSitesDefaultIsForThoseWhoSayNothing) {
  ProfileRules rules = kSite;
  rules.defaults = *ProfileTypes::parse("task");
  EXPECT_TRUE(profile_order("", rules).profile);
  EXPECT_FALSE(profile_order("none", rules).profile);
  rules.gathers = false;
  EXPECT_EQ(profile_order("", rules).note, "");  // they asked for nothing
}

TEST(ProfileRules, WhatIsNotGatheredIsToldToWhoAskedForIt) {
  const ProfileOrder named = profile_order("task,network,lustre", kSite);
  EXPECT_TRUE(named.profile);
  EXPECT_EQ(named.note,
            "slurmstepd: error: --profile=task,network,lustre: use of networks is not gathered; use of file systems is not gathered");
  EXPECT_EQ(profile_order("all", kSite).note, "");
  ProfileRules rules = kSite;
  rules.energy_seconds = 0;
  EXPECT_EQ(profile_order("energy", rules).note,
            "slurmstepd: error: --profile=energy: energy is not sampled (--acctg-freq=energy=SECONDS)");
  EXPECT_FALSE(profile_order("energy", rules).profile);
  rules.measures_energy = false;
  EXPECT_NE(profile_order("energy", rules).note.find("AcctGatherEnergyType"), std::string::npos);
  rules.gathers = false;
  EXPECT_NE(profile_order("all", rules).note.find("JobAcctGatherType"), std::string::npos);
  rules.directory.clear();
  EXPECT_EQ(profile_order("task", rules).note, "slurmstepd: error: --profile=task: no profiles are recorded here (AcctGatherProfileType)");
}

}  // namespace
}  // namespace muster::slurmd
