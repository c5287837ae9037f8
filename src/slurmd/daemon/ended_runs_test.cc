#include "slurmd/daemon/ended_runs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::slurmd {
namespace {

TEST(EndedRuns, AreKnownToTheNextSlurmdForAsLongAsCredentialsLive) {
  auto dir = *os::TempDir::create("er", "/tmp");
  auto log = *os::Log::open({.program = "test"});
  const std::string path = dir.path() + "/ended";
  const Time now = from_unix(1'700'000'000);
  {
    EndedRuns runs(*log, path);
    EXPECT_TRUE(runs.read(now).empty());
    runs.add(JobId(7), 0, now - minutes(6));
    runs.add(JobId(7), 1, now - minutes(2));
    runs.add(JobId(8), 0, now);
  }
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  {
    os::Fd fd = *os::open_output(path, {.append = true});
    ASSERT_TRUE(os::write_all(fd.get(), "9 0"));  // and then it crashed
  }
  EndedRuns next(*log, path);
  EXPECT_EQ(next.read(now), (std::vector<EndedRuns::Run>{{JobId(7), 1}, {JobId(8), 0}}));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  next.add(JobId(10), 0, now);
  EXPECT_EQ(next.read(now), (std::vector<EndedRuns::Run>{{JobId(10), 0}})) << "in a spool that was tidied";
}

}  // namespace
}  // namespace muster::slurmd
