#include "slurmd/daemon/leftovers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "os/files.h"
#include "os/process.h"

namespace muster::slurmd {
namespace {

namespace fs = std::filesystem;

// A tree of plain files that looks like version 2; a folder with a file in it cannot be removed.
class LeftoversTest : public testing::Test {
 protected:
  void SetUp() override {
    os::LogOptions quiet;
    quiet.file = dir_.path() + "/log";
    log_ = std::move(*os::Log::open(quiet));
    fs::create_directories(root());
    for (const std::string& folder : {dir_.path(), root()})
      for (const char* name : {"cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"})
        ASSERT_TRUE(os::write_file_atomic(folder + "/" + name, ""));
    fs::create_directory(job());
  }
  std::string root() const { return dir_.path() + "/slurm"; }
  std::string job() const { return root() + "/job_7"; }
  void run_while_there() {
    auto limit = loop_.after(seconds(20), [this] { loop_.stop(); });
    std::function<void()> look = [&] {
      if (!fs::exists(job())) return loop_.stop();
      next_ = loop_.after(milliseconds(1), look);
    };
    look();
    loop_.run();
  }

  os::TempDir dir_ = *os::TempDir::create("lo", "/tmp");
  std::unique_ptr<os::Log> log_;
  net::Loop loop_;
  std::unique_ptr<net::Loop::Timer> next_;
  os::CgroupOptions options_{.mountpoint = dir_.path(), .version = os::CgroupVersion::kV2, .prefix = "slurm"};
};

TEST_F(LeftoversTest, AreKilledAtOnceAndTheLoopGoesOnUntilTheirGroupIsGone) {
  auto pid = os::spawn({.path = "/bin/sleep", .argv = {"sleep", "100"}});
  ASSERT_TRUE(pid);
  ASSERT_TRUE(os::write_file_atomic(job() + "/cgroup.procs", std::to_string(*pid) + "\n"));
  Leftovers leftovers(loop_, *log_);
  leftovers.end(options_, JobId(7));
  EXPECT_EQ(os::wait_child(*pid, seconds(20))->status.signal, SIGKILL);
  EXPECT_TRUE(fs::exists(job())) << "it did not wait";
  fs::remove(job() + "/cgroup.procs");
  run_while_there();
  EXPECT_FALSE(fs::exists(job()));
}

TEST_F(LeftoversTest, OfAJobThatRunsAgainAreLeftAlone) {
  fs::create_directory(job() + "/step_batch");
  ASSERT_TRUE(os::write_file_atomic(job() + "/step_batch/busy", ""));
  Leftovers leftovers(loop_, *log_);
  leftovers.end(options_, JobId(7));
  leftovers.leave(JobId(7), kBatchStep);
  fs::remove(job() + "/step_batch/busy");
  auto limit = loop_.after(milliseconds(100), [this] { loop_.stop(); });
  loop_.run();
  EXPECT_TRUE(fs::exists(job() + "/step_batch"));
}

}  // namespace
}  // namespace muster::slurmd
