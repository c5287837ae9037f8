#include "model/profile_types.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ProfileTypes, KindsAreNamedOneByOne) {
  const auto two = ProfileTypes::parse("Task,energy");
  ASSERT_TRUE(two);
  EXPECT_TRUE(two->task && two->energy);
  EXPECT_FALSE(two->network || two->filesystem || two->everything);
  EXPECT_EQ(*ProfileTypes::parse("lustre"), *ProfileTypes::parse("FileSystem"));
}

TEST(ProfileTypes, AllIsEverythingAndNoneNothing) {
  EXPECT_TRUE(ProfileTypes::parse("ALL")->everything);
  EXPECT_TRUE(ProfileTypes::parse("all")->network);
  EXPECT_FALSE(ProfileTypes::parse("None")->any());
  EXPECT_FALSE(ProfileTypes::parse("")->any());
}

TEST(ProfileTypes, WhatIsNoKindIsNamed) {
  const auto wrong = ProfileTypes::parse("task,disk");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("\"disk\""), std::string::npos);
  EXPECT_FALSE(ProfileTypes::parse("all,task"));  // stands alone
  EXPECT_FALSE(ProfileTypes::parse("none,task"));
}

}  // namespace
}  // namespace muster
