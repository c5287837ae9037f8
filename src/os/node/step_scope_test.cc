#include "os/node/step_scope.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "os/files.h"

namespace muster::os {
namespace {

TEST(StepScope, ASlicesPathNamesTheSlicesAboveIt) {
  EXPECT_EQ(slice_path("system.slice"), "system.slice");
  EXPECT_EQ(slice_path("slurm"), "slurm.slice");
  EXPECT_EQ(slice_path("batch-gpu-big.slice"), "batch.slice/batch-gpu.slice/batch-gpu-big.slice");
  EXPECT_EQ(scope_path({.slice = "a-b.slice", .name = "n1_slurmstepd.scope"}), "a.slice/a-b.slice/n1_slurmstepd.scope");
}

class FakeSystemd : public testing::Test {
 protected:
  // A systemd-run that does as `script` says, for as long as the test runs.
  void SetUp() override {
    root_ = testing::TempDir() + "step_scope_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    path_ = std::getenv("PATH");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ASSERT_EQ(std::system(("rm -r " + root_).c_str()), 0);
  }
  Result<bool> open_with(const std::string& script, Duration timeout) {
    EXPECT_TRUE(write_file_atomic(root_ + "/systemd-run", "#!/bin/sh\n" + script, 0755));
    ::setenv("PATH", (root_ + ":" + path_).c_str(), 1);
    return open_step_scope({.mountpoint = root_, .keeper = "/bin/true", .timeout = timeout});
  }
  std::string root_, path_;
};

TEST_F(FakeSystemd, ItsRefusalIsTold) {
  auto made = open_with("echo 'Failed to start transient scope unit: Access denied' >&2; exit 1\n", seconds(10));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "systemd makes no scope slurmstepd.scope: Failed to start transient scope unit: Access denied");
}

TEST_F(FakeSystemd, ItsSilenceIsBounded) {
  auto made = open_with("exec sleep 60\n", milliseconds(30));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kTimedOut);
}

TEST_F(FakeSystemd, AScopeThatLivesIsLeftAlone) {
  const std::string scope = root_ + "/system.slice/slurmstepd.scope";
  ASSERT_TRUE(make_dirs(scope, 0755));
  ASSERT_TRUE(write_file_atomic(scope + "/cgroup.events", "populated 1\nfrozen 0\n"));
  auto made = open_with("exit 1\n", seconds(10));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE(*made);
}

// slurmd ended between systemd's word and the last step: no controller can be handed down while a process is in the scope itself.
TEST_F(FakeSystemd, AKeeperThatWasLeftInTheScopeItselfGoesIntoItsLeaf) {
  const std::string scope = root_ + "/system.slice/slurmstepd.scope";
  ASSERT_TRUE(make_dirs(scope + "/system", 0755));
  ASSERT_TRUE(write_file_atomic(scope + "/cgroup.events", "populated 1\nfrozen 0\n"));
  ASSERT_TRUE(write_file_atomic(scope + "/cgroup.procs", "4711\n"));
  ASSERT_TRUE(write_file_atomic(scope + "/system/cgroup.procs", ""));
  EXPECT_TRUE(open_with("exit 1\n", seconds(10)));
  EXPECT_EQ(*read_file(scope + "/system/cgroup.procs"), "4711");
}

}  // namespace
}  // namespace muster::os
