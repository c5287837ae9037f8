// Storage that fails: a sync that does not come back well, a file size limit, a disk that is full.
// This program's fdatasync and fsync stand before the C library's, so SQLite's syncs are counted and failed
// here.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>

#include "store/store_testing.h"

namespace {

std::atomic<int> g_log_syncs = 0;   // of files named *-wal
std::atomic<int> g_fail_syncs = 0;  // how many of the next such syncs fail
std::atomic<int> g_fail_errno = EIO;

bool is_write_ahead_log(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path);
  return n > 0 && std::string_view(path, static_cast<size_t>(n)).ends_with("-wal");
}

int sync_with_faults(int fd, const char* function) {
  if (is_write_ahead_log(fd)) {
    ++g_log_syncs;
    if (g_fail_syncs > 0) {
      --g_fail_syncs;
      errno = g_fail_errno;
      return -1;
    }
  }
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, function))(fd);
}

}  // namespace

extern "C" int fdatasync(int fd) { return sync_with_faults(fd, "fdatasync"); }
extern "C" int fsync(int fd) { return sync_with_faults(fd, "fsync"); }

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::unique_ptr<EventLog> must_open(const std::string& directory) {
  auto log = open_sqlite_log(directory);
  EXPECT_TRUE(log) << log.error().message();
  return log ? std::move(*log) : nullptr;
}

TEST(SqliteSync, EveryAppendSyncsTheLogBeforeItReturns) {
  TempDir dir;
  auto log = must_open(dir.path());
  for (int i = 0; i < 50; ++i) {
    int before = g_log_syncs;
    ASSERT_TRUE(log->put_blob("blob " + std::to_string(i)));
    EXPECT_EQ(g_log_syncs, before) << "a blob waits for the append";
    ASSERT_TRUE(log->append(1, Records(static_cast<size_t>(i % 7 + 1), "record")));
    EXPECT_GE(g_log_syncs, before + 1);
    EXPECT_LE(g_log_syncs, before + 2);  // the first one also syncs the header
  }
  int before = g_log_syncs;
  ASSERT_TRUE(log->append(1, Records{}));
  EXPECT_EQ(g_log_syncs, before) << "nothing to make durable";
}

TEST(SqliteSync, WhatWasAcknowledgedIsInTheFilesAtThatMoment) {
  TempDir dir, image;
  auto log = must_open(dir.path());
  for (Position i = 1; i <= 30; ++i) {
    auto blob = log->put_blob("blob " + std::to_string(i));
    ASSERT_EQ(log->append(i, Records{std::to_string(i)}).value(), i);
    copy_as_after_crash(dir.path(), image.path());
    auto after = must_open(image.path());
    EXPECT_EQ(read_all(*after).value().size(), i);
    EXPECT_EQ(after->last_term(), i);
    EXPECT_TRUE(after->get_blob(*blob));
  }
}

class FailedSync : public ::testing::TestWithParam<int> {
 protected:
  void TearDown() override { g_fail_syncs = 0; }
};

// 1: the sync of the batch fails, the repair succeeds. 2: the first repair fails too. 3: and the next one.
TEST_P(FailedSync, LeavesNothingOfTheBatchAlsoAfterACrash) {
  TempDir dir, image;
  auto log = must_open(dir.path());
  ASSERT_TRUE(log->append(1, Records{"a"}));
  auto blob = log->put_blob("script");
  g_fail_errno = EIO;
  g_fail_syncs = GetParam();
  auto p = log->append(2, Records{"refused", "refused"});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, Errc::kStateNotSaved);
  EXPECT_THAT(p.error().text, HasSubstr("muster.db"));
  EXPECT_EQ(log->last_position(), 1u);
  EXPECT_EQ(log->last_term(), 1u);
  EXPECT_THAT(read_all(*log).value(), ElementsAre(Pair(1, "a")));

  copy_as_after_crash(dir.path(), image.path());
  {
    auto after = must_open(image.path());
    EXPECT_THAT(read_all(*after).value(), ElementsAre(Pair(1, "a")));
    EXPECT_EQ(after->last_term(), 1u);
    EXPECT_EQ(after->get_blob(*blob).error().code, Errc::kNotFound);
  }

  while (g_fail_syncs > 0) EXPECT_FALSE(log->append(2, Records{"refused"}));
  EXPECT_EQ(log->append(2, Records{"b"}).value(), 2u);
  log.reset();
  log = must_open(dir.path());
  EXPECT_THAT(read_all(*log).value(), ElementsAre(Pair(1, "a"), Pair(2, "b")));
  EXPECT_EQ(log->get_blob(*blob).value(), "script");
}

INSTANTIATE_TEST_SUITE_P(Times, FailedSync, ::testing::Values(1, 2, 3));

TEST(SqliteSync, ASyncWithoutSpaceIsADiskFull) {
  TempDir dir;
  auto log = must_open(dir.path());
  ASSERT_TRUE(log->append(1, Records{"a"}));
  g_fail_errno = ENOSPC;
  g_fail_syncs = 1;
  auto p = log->append(1, Records{"b"});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, Errc::kDiskFull);
  EXPECT_EQ(log->append(1, Records{"b"}).value(), 2u);
}

// Appends until there is no room. Returns how many were acknowledged; 0 for a wrong error.
Position fill(EventLog& log) {
  for (int i = 0; i < 100'000; ++i) {
    auto p = log.append(1, Records(4, std::string(5000, 'f')));
    if (p) continue;
    EXPECT_EQ(p.error().code, Errc::kDiskFull) << p.error().message();
    EXPECT_THAT(p.error().text, HasSubstr("muster.db"));
    return p.error().code == Errc::kDiskFull ? log.last_position() : 0;
  }
  ADD_FAILURE() << "never full";
  return 0;
}

void expect_full_then_fine(const std::string& directory, const std::function<void()>& make_room) {
  auto log = must_open(directory);
  ASSERT_TRUE(log->append(1, Records{"first"}));
  Position acknowledged = fill(*log);
  ASSERT_GT(acknowledged, 1u);
  // The small ones that still fit may be acknowledged; then it is full for those as well, every time.
  while (log->append(1, Records{"small"})) ++acknowledged;
  EXPECT_EQ(log->append(1, Records{"small"}).error().code, Errc::kDiskFull);
  auto blob = log->put_blob(std::string(100'000, 'b'));
  EXPECT_EQ(log->append(1, Records{"small"}).error().code, Errc::kDiskFull);
  EXPECT_EQ(log->last_position(), acknowledged);
  EXPECT_EQ(read_all(*log).value().size(), acknowledged);
  make_room();
  EXPECT_EQ(log->append(1, Records{"after"}).value(), acknowledged + 1);
  log.reset();
  log = must_open(directory);
  EXPECT_EQ(read_all(*log).value().size(), acknowledged + 1);
  EXPECT_TRUE(log->get_blob(*blob));
}

TEST(SqliteDiskFull, AFileSizeLimitFailsCleanlyAndPasses) {
  TempDir dir;
  ASSERT_NE(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = {.rlim_cur = 2 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_full_then_fine(dir.path(), [&] { setrlimit(RLIMIT_FSIZE, &before); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
}

constexpr int kCannotMount = 77;

// A full disk of its own, mounted where only this child process sees it.
int in_small_file_system(const std::string& at) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kCannotMount;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kCannotMount;
  if (mount("none", at.c_str(), "tmpfs", 0, "size=3m") != 0) return kCannotMount;
  std::string ballast = at + "/ballast";
  std::ofstream(ballast) << std::string(1 << 20, 'b');
  expect_full_then_fine(at + "/state", [&] { unlink(ballast.c_str()); });
  return ::testing::Test::HasFailure() ? 1 : 0;
}

TEST(SqliteDiskFull, AFullFileSystemFailsCleanlyAndPasses) {
  TempDir dir;
  pid_t child = fork();
  if (child == 0) _exit(in_small_file_system(dir.path()));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kCannotMount) GTEST_SKIP() << "mounting is not permitted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace muster::store
