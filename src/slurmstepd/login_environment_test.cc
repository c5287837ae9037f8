#include "slurmstepd/login_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

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
  net::Loop loop;
  UserPrograms programs(loop);
  loop.on_signal(SIGCHLD, [&] {
    for (const os::Reaped& r : os::reap_children()) programs.reaped(r.pid, r.status.raw);
  });
  std::string fault;
  login_environment(programs, {"me", "/no/such/home", "/bin/bash"}, {}, [&](Result<std::vector<std::string>> found) {
    if (found) add_missing(environment, std::move(*found));
    else fault = found.error().message();
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(fault, "");
  EXPECT_THAT(environment, testing::Contains("HOME=/elsewhere"));
  EXPECT_THAT(environment, testing::Contains(testing::StartsWith("PATH=")));
  EXPECT_EQ(std::ranges::count_if(environment, [](const std::string& e) { return e.starts_with("HOME="); }), 1);
}

}  // namespace
}  // namespace muster::slurmstepd
