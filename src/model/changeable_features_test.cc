#include "model/changeable_features.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace muster {
namespace {

ChangeableFeatures nps_and_mig() {
  ChangeableFeatures out;
  out.names = {"nps1", "nps2", "nps4", "mig=on", "mig=off"};
  out.exclusive = {{"nps1", "nps2", "nps4"}, {"mig=on", "mig=off"}};
  return out;
}

// "a,b c": the sets; "!" and what is wrong.
std::string sets_of(const std::string& constraint, const ChangeableFeatures& changeable = nps_and_mig()) {
  const auto parsed = FeatureConstraint::parse(constraint);
  if (!parsed) return "?";
  const auto sets = feature_sets(*parsed, changeable);
  if (!sets) return "!" + std::string(sets.error().hint);
  std::string out;
  for (const FeatureList& set : *sets) out += (out.empty() ? "" : " ") + join(set, ",");
  return out;
}

TEST(ChangeableFeatures, EachWayToMeetAConstraint) {
  EXPECT_EQ(sets_of("nps2"), "nps2");
  EXPECT_EQ(sets_of("intel&nps2"), "intel,nps2");
  EXPECT_EQ(sets_of("foo|bar&nps1"), "foo,nps1 bar,nps1");  // from left to right, as sbatch(1) has it
  EXPECT_EQ(sets_of("nps1|nps2"), "nps1 nps2");
  EXPECT_EQ(sets_of("nps1&(mig=on|mig=off)"), "nps1,mig=on nps1,mig=off");
  EXPECT_EQ(sets_of("nps1&nps1"), "nps1");
}

TEST(ChangeableFeatures, WhatExcludesEachOtherIsNotAskedFor) {
  EXPECT_EQ(sets_of("(nps1|nps2)&nps2"), "nps2");
  EXPECT_NE(sets_of("nps1&nps2").find("!--constraint asks for features that exclude each other"), std::string::npos);
  EXPECT_EQ(sets_of("nps1&mig=on"), "nps1,mig=on");  // of different lists
}

TEST(ChangeableFeatures, WhatTheHelpersPluginDoesNotTake) {
  EXPECT_NE(sets_of("[nps1|nps2]").find("no brackets and no counts"), std::string::npos);
  EXPECT_NE(sets_of("nps1*2").find("no brackets and no counts"), std::string::npos);
  std::string many = "(nps1|a)";
  for (int i = 0; i < 12; ++i) many += "&(b" + std::to_string(i) + "|c" + std::to_string(i) + ")";
  EXPECT_NE(sets_of(many).find("more than 256 ways"), std::string::npos);
}

TEST(ChangeableFeatures, WhatIsActiveAfterABoot) {
  const ChangeableFeatures f = nps_and_mig();
  EXPECT_EQ(f.after({"intel", "nps1", "mig=on"}, {"nps2"}), (FeatureList{"intel", "mig=on", "nps2"}));
  EXPECT_EQ(f.after({"nps2"}, {"nps2"}), FeatureList{"nps2"});
  EXPECT_EQ(f.without({"intel", "nps1"}), FeatureList{"intel"});
  EXPECT_EQ(f.only({"intel", "nps1"}), FeatureList{"nps1"});
}

TEST(ChangeableFeatures, WhoMayBoot) {
  ChangeableFeatures f = nps_and_mig();
  EXPECT_TRUE(f.may_boot("anybody"));
  f.users = {"ann"};
  EXPECT_TRUE(f.may_boot("ann"));
  EXPECT_FALSE(f.may_boot("bob"));
  EXPECT_FALSE(f.may_boot(""));
}

TEST(ChangeableFeatures, WhatHelpersPrint) {
  EXPECT_EQ(features_printed("nps1\nmig=on, x\n\n"), (FeatureList{"nps1", "mig=on", "x"}));
  EXPECT_TRUE(features_printed(" \n").empty());
}

}  // namespace
}  // namespace muster
