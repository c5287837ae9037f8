#include "slurmd/daemon/job_channels.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::slurmd {
namespace {

struct Channels : ::testing::Test {
  os::TempDir dir = *os::TempDir::create("channels-", "/tmp");
  std::unique_ptr<os::Log> log = *os::Log::open({.program = "test"});
  os::ImexDevices devices{dir.path()};
  JobChannels channels = made();

  void SetUp() override {
    const std::string probe = dir.path() + "/probe";
    if (::mknod(probe.c_str(), S_IFCHR | 0600, makedev(1, 3)) < 0) GTEST_SKIP() << "no device files can be made here";
    ASSERT_TRUE(os::make_dirs(dir.path() + "/proc", 0755));
    ASSERT_TRUE(os::write_file_atomic(dir.path() + "/proc/devices", "Character devices:\n  1 nvidia-caps-imex-channels\n", 0644));
    channels.start(true);
  }
  JobChannels made() { return {*log, dir.path() + "/channels", dir.path()}; }
  // Whose the file is; nullopt: there is none.
  std::optional<uint32_t> owner(uint32_t channel) const {
    struct stat st {};
    if (::lstat(devices.file(channel).c_str(), &st) < 0) return std::nullopt;
    return st.st_uid;
  }
  static JobChannels::IsGone only(JobId job) {
    return [job](JobId other, uint32_t) { return other == job; };
  }
};

TEST_F(Channels, AreThereWhileTheJobIs) {
  ASSERT_TRUE(channels.give(JobId(7), 0, 3, Uid(1000)));
  ASSERT_TRUE(channels.give(JobId(7), 0, 3, Uid(1000)));  // its next step
  ASSERT_TRUE(channels.give(JobId(8), 0, 4, Uid(1001)));
  ASSERT_TRUE(channels.give(JobId(9), 0, std::nullopt, Uid(1001)));
  EXPECT_EQ(owner(3), 1000u);
  channels.take_back(only(JobId(7)));
  EXPECT_EQ(owner(3), std::nullopt);
  EXPECT_EQ(owner(4), 1001u);
}

TEST_F(Channels, AreFoundAgainByTheNextSlurmd) {
  ASSERT_TRUE(channels.give(JobId(7), 2, 3, Uid(1000)));
  JobChannels next = made();
  next.start(false);  // even where none are given any more
  next.take_back([](JobId job, uint32_t generation) { return job == JobId(7) && generation == 2; });
  EXPECT_EQ(owner(3), std::nullopt);
}

TEST_F(Channels, OfComponentsGoWithTheLast) {
  ASSERT_TRUE(channels.give(JobId(7), 0, 3, Uid(1000)));
  ASSERT_TRUE(channels.give(JobId(8), 0, 3, Uid(1000)));
  channels.take_back(only(JobId(7)));
  EXPECT_EQ(owner(3), 1000u);
  channels.take_back(only(JobId(8)));
  EXPECT_EQ(owner(3), std::nullopt);
}

// slurmctld has lost a job, and gives its channel to another user's.
TEST_F(Channels, AreTheirsWhomSlurmctldNamesLast) {
  ASSERT_TRUE(channels.give(JobId(7), 0, 3, Uid(1000)));
  ASSERT_TRUE(channels.give(JobId(9), 0, 3, Uid(1001)));
  EXPECT_EQ(owner(3), 1001u);
  channels.take_back(only(JobId(7)));
  EXPECT_EQ(owner(3), 1001u);
}

TEST_F(Channels, OfARunThatComesBackAreThoseOfThatRun) {
  ASSERT_TRUE(channels.give(JobId(7), 0, 3, Uid(1000)));
  ASSERT_TRUE(channels.give(JobId(7), 1, 4, Uid(1000)));
  EXPECT_EQ(owner(3), std::nullopt);
  EXPECT_EQ(owner(4), 1000u);
}

TEST_F(Channels, ANodeWithoutTheDriverHasNone) {
  ASSERT_TRUE(os::write_file_atomic(dir.path() + "/proc/devices", "Character devices:\n  1 mem\n", 0644));
  JobChannels none = made();
  none.start(true);
  EXPECT_EQ(none.driver(), 0u);
  EXPECT_TRUE(none.give(JobId(7), 0, 3, Uid(1000)));
  EXPECT_EQ(owner(3), std::nullopt);
}

}  // namespace
}  // namespace muster::slurmd
