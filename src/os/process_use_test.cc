#include "os/process_use.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "os/process.h"
#include "os/process_tree.h"

namespace muster::os {
namespace {

// A child that runs a shell text and is killed at the end of the test. It says "ready" by a byte on its standard output.
class Shell {
 public:
  explicit Shell(const std::string& text) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return;
    SpawnSpec s;
    s.path = "/bin/sh";
    s.argv = {"sh", "-c", text};
    s.fds = {{ends[1], 1}};
    s.new_session = true;
    pid = spawn(s).value_or(0);
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1) << text;
    ::close(ends[0]);
  }
  ~Shell() {
    if (pid > 0) ::kill(-pid, SIGKILL);
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
  pid_t pid = 0;
};

TEST(ProcessUse, OfOurselves) {
  auto use = read_process_use(::getpid());
  ASSERT_TRUE(use);
  EXPECT_EQ(use->parent, ::getppid());
  const auto same = read_process(::getpid());
  ASSERT_TRUE(same);
  EXPECT_LT(use->virtual_bytes, same->virtual_bytes + (64u << 20));
  EXPECT_GT(use->virtual_bytes + (64u << 20), same->virtual_bytes);
  EXPECT_EQ(use->threads, 1u);
  EXPECT_GT(use->resident_bytes, 1u << 20);
  EXPECT_GT(use->virtual_bytes, use->resident_bytes);
}

TEST(ProcessUse, WhatAChildUsedCountsOnceItIsWaitedFor) {
  Shell shell("dd if=/dev/zero of=/dev/null bs=1M count=5 2>/dev/null; echo; sleep 100");
  auto use = read_process_use(shell.pid);
  ASSERT_TRUE(use);
  EXPECT_GE(use->read_bytes, 5u << 20);
  EXPECT_GE(use->written_bytes, 5u << 20);
}

TEST(ProcessUse, ChildrenOfAnyThread) {
  Shell shell("sleep 100 & sleep 100 & echo; wait");
  EXPECT_EQ(children_of(shell.pid, 1).size(), 2u);
  pid_t child = 0;
  std::thread starter([&] {
    child = spawn({.path = "/bin/sleep", .argv = {"sleep", "100"}}).value_or(0);
    const std::vector<pid_t> found = children_of(::getpid(), 2);
    EXPECT_TRUE(std::ranges::find(found, child) != found.end());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
  starter.join();
  EXPECT_TRUE(children_of(0x7ffffff, 1).empty());
}

TEST(ProcessUse, SharedPagesAreLeftOutOrPortioned) {
  Shell shell("echo; sleep 100");
  auto all = read_process_use(shell.pid), unshared = read_process_use(shell.pid, ResidentKind::kUnshared),
       portioned = read_process_use(shell.pid, ResidentKind::kPortioned);
  ASSERT_TRUE(all && unshared && portioned);
  EXPECT_LT(unshared->resident_bytes, all->resident_bytes);  // its program and libc are files
  EXPECT_LT(portioned->resident_bytes, all->resident_bytes);
  EXPECT_GT(portioned->resident_bytes, 0u);
}

TEST(ProcessUse, NoProcess) { EXPECT_FALSE(read_process_use(0x7ffffff)); }

}  // namespace
}  // namespace muster::os
