#include "site/programs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/process.h"

namespace muster::site {
namespace {

// Runs programs on a loop of its own; every end is noted.
struct Runner {
  net::Loop loop;
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "programs_test", .async = false});
  Programs programs{loop, *log};
  std::vector<std::string> ends;
  size_t awaited = 0;

  explicit Runner(bool only_ours = false) {
    loop.on_signal(SIGCHLD, [this, only_ours] {
      if (only_ours) return programs.reap_ours();
      for (const os::Reaped& r : os::reap_children()) programs.reaped(r.pid, r.status.raw);
    });
  }
  Programs::Run run(const std::string& script) {
    return programs.run({{"/bin/sh", {"-c", script}}}, {}, std::nullopt, [this](const std::string& error) {
      ends.push_back(error);
      if (ends.size() == awaited) loop.stop();
    });
  }
  void wait_for_ends(size_t count) {
    awaited = count;
    if (ends.size() < count) loop.run();
  }
};

TEST(Programs, NoMoreAtOnceThanTheyMayBe) {
  Runner r;
  r.programs.set_most(2);
  const Programs::Run first = r.run("exec sleep 1000"), second = r.run("exec sleep 1000");
  r.run("exit 0");
  EXPECT_EQ(r.programs.running(), 2u);
  EXPECT_TRUE(r.ends.empty());
  r.programs.abandon(first);
  r.wait_for_ends(1);  // the third took its place
  EXPECT_EQ(r.ends, std::vector<std::string>{""});
  r.programs.abandon(second);
  r.run("exit 3");
  r.wait_for_ends(2);
  EXPECT_EQ(r.ends[1], "/bin/sh: exit code 3");
}

TEST(Programs, AChildThatSomebodyElseWaitsForIsLeftToHim) {
  Runner r(true);
  os::SpawnSpec other;
  other.path = "/bin/true";
  auto pid = os::spawn(other);
  ASSERT_TRUE(pid);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(*pid), &ended, WEXITED | WNOWAIT), 0);
  r.run("exit 3");
  r.wait_for_ends(1);
  EXPECT_EQ(r.ends, std::vector<std::string>{"/bin/sh: exit code 3"});
  auto waited = os::wait_child(*pid);
  ASSERT_TRUE(waited) << waited.error().message();
  EXPECT_TRUE(waited->status.ok());
}

TEST(Programs, AMachineWithoutDescriptorsIsNotTheirFailure) {
  Runner r;
  // The undefined-behaviour sanitizer needs a pipe when it meets a type for the first time: it meets timers here.
  const auto met = r.loop.after(seconds(1000), [] {});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;  // no further descriptor
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  r.run("exit 0");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(r.programs.running(), 0u);
  EXPECT_TRUE(r.ends.empty());
  r.wait_for_ends(1);
  EXPECT_EQ(r.ends[0], "");
}

TEST(Programs, WhatIsReadIsWhatItPrintsAndNotWhatItComplainsOf) {
  Runner r;
  std::string printed, error;
  const auto read = [&](const char* script) {
    r.programs.run_and_read({"/bin/sh", {"-c", script}}, {}, std::nullopt, [&](const std::string& e, const std::string& text) {
      error = e;
      printed = text;
      r.loop.stop();
    });
    r.loop.run();
  };
  read("echo nps1; echo odd >&2");
  EXPECT_EQ(printed, "nps1\n");
  EXPECT_EQ(error, "");
  read("echo nps1; echo no mode >&2; exit 3");
  EXPECT_EQ(printed, "nps1\n");
  EXPECT_EQ(error, "/bin/sh: exit code 3: no mode");
}

}  // namespace
}  // namespace muster::site
