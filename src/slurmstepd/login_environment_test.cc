#include "slurmstepd/login_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::slurmstepd {
namespace {

TEST(LoginEnvironment, WhatAProfilePrintsIsNoVariable) {
  using namespace std::string_literals;
  std::string output = "Welcome!\nX=1\n@@A=1\0PATH=/bin\0_=/usr/bin/env\0SHLVL=1\0B=two\nlines\0"s;
  EXPECT_THAT(parse_login_environment(output, "@@"), testing::ElementsAre("A=1", "PATH=/bin", "B=two\nlines"));
  EXPECT_THAT(parse_login_environment("nothing", "@@"), testing::IsEmpty());
}

TEST(LoginEnvironment, WhatTheJobBringsWins) {
  std::vector<std::string> environment = {"HOME=/elsewhere", "SLURM_JOB_ID=1"};
  auto ok = add_login_environment(environment, {"me", "/tmp", "/bin/bash"}, std::nullopt);
  ASSERT_TRUE(ok) << ok.error().message();
  EXPECT_THAT(environment, testing::Contains("HOME=/elsewhere"));
  EXPECT_THAT(environment, testing::Contains(testing::StartsWith("PATH=")));
  EXPECT_EQ(std::ranges::count_if(environment, [](const std::string& e) { return e.starts_with("HOME="); }), 1);
}

}  // namespace
}  // namespace muster::slurmstepd
