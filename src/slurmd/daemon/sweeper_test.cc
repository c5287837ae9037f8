#include "slurmd/daemon/sweeper.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "os/files.h"

namespace muster::slurmd {
namespace {

// More folders than are swept at a time: when the turn of the last comes, its name is that of the next run's.
TEST(Sweeper, WhatTakesTheNameOfARemovedFolderStays) {
  auto dir = *os::TempDir::create("sw", "/tmp");
  auto log = *os::Log::open({.program = "test"});
  net::Loop loop;
  Sweeper sweeper(loop, *log, MUSTER_SLURMSTEPD);
  loop.on_signal(SIGCHLD, [&] {
    for (const os::Reaped& r : os::reap_children()) sweeper.reaped(r.pid);
  });
  const auto path = [&](int i) { return dir.path() + "/job" + std::to_string(i); };
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(os::make_dirs(path(i) + "/old", 0700));
    sweeper.remove(path(i));
    EXPECT_LT(::access(path(i).c_str(), F_OK), 0) << "at once";
    ASSERT_TRUE(os::make_dirs(path(i) + "/new", 0700));
  }
  const auto entries = [&] { return std::distance(std::filesystem::directory_iterator(dir.path()), {}); };
  for (int i = 0; i < 2000 && entries() > 12; ++i) {
    auto wake = loop.after(milliseconds(5), [&] { loop.stop(); });
    loop.run();
  }
  EXPECT_EQ(entries(), 12);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(::access((path(i) + "/new").c_str(), F_OK), 0) << i;
}

}  // namespace
}  // namespace muster::slurmd
