#include "os/node/imex_channels.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::os {
namespace {

constexpr uint32_t kMemory = 1;  // the driver of /dev/null (3) and /dev/zero (5), for files that can be opened here

struct Imex : ::testing::Test {
  TempDir dir = *TempDir::create("muster-imex-");
  ImexDevices devices{dir.path()};
  void driver(const std::string& text) {
    ASSERT_TRUE(make_dirs(dir.path() + "/proc", 0755));
    ASSERT_TRUE(write_file_atomic(dir.path() + "/proc/devices", text, 0644));
  }
  struct stat stat_of(uint32_t channel) const {
    struct stat st {};
    EXPECT_EQ(::lstat(devices.file(channel).c_str(), &st), 0);
    return st;
  }
  bool makes_devices() const {
    const std::string probe = dir.path() + "/probe";
    return ::mknod(probe.c_str(), S_IFCHR | 0600, makedev(kMemory, 3)) == 0 && ::unlink(probe.c_str()) == 0;
  }
};

TEST_F(Imex, TheDriversNumberIsTheKernels) {
  driver("Character devices:\n  1 mem\n195 nvidia\n511 nvidia-caps-imex-channels\n\nBlock devices:\n  8 sd\n");
  EXPECT_EQ(*devices.driver_number(), 511u);
  driver("Character devices:\n  1 mem\n510 nvidia-caps\n");
  EXPECT_EQ(*devices.driver_number(), std::nullopt);
}

TEST_F(Imex, AChannelIsItsUsersAlone) {
  if (!makes_devices()) GTEST_SKIP() << "no device files can be made here";
  ASSERT_TRUE(devices.open_for(kMemory, 5, Uid(1234)));
  const struct stat st = stat_of(5);
  EXPECT_EQ(st.st_mode, static_cast<mode_t>(S_IFCHR | 0600));
  EXPECT_EQ(st.st_uid, 1234u);
  EXPECT_EQ(st.st_rdev, makedev(kMemory, 5));
  ASSERT_TRUE(devices.open_for(kMemory, 5, Uid(99)));  // the next job's
  EXPECT_EQ(stat_of(5).st_uid, 99u);
  ASSERT_TRUE(devices.remove(5));
  EXPECT_NE(::access(devices.file(5).c_str(), F_OK), 0);
  EXPECT_TRUE(devices.remove(5));
}

// What else has its name there goes, and a link is not followed.
TEST_F(Imex, WhatIsInItsPlaceIsReplaced) {
  if (!makes_devices()) GTEST_SKIP() << "no device files can be made here";
  const std::string other = dir.path() + "/other";
  ASSERT_TRUE(write_file_atomic(other, "x", 0644));
  ASSERT_TRUE(make_dirs(dir.path() + "/dev/nvidia-caps-imex-channels", 0755));
  ASSERT_EQ(::symlink(other.c_str(), devices.file(3).c_str()), 0);
  ASSERT_TRUE(devices.open_for(kMemory, 3, Uid(1234)));
  EXPECT_TRUE(S_ISCHR(stat_of(3).st_mode));
  struct stat st {};
  ASSERT_EQ(::stat(other.c_str(), &st), 0);
  EXPECT_NE(st.st_uid, 1234u);
  ASSERT_EQ(::chmod(devices.file(3).c_str(), 0666), 0);
  ASSERT_TRUE(devices.open_for(kMemory, 3, Uid(1234)));
  EXPECT_EQ(stat_of(3).st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace muster::os
