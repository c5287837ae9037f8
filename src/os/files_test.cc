#include "os/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <semaphore>
#include <thread>

#include "os/process.h"

namespace muster::os {
namespace {

struct Files : testing::Test {
  TempDir dir = *TempDir::create("muster-files-");
  std::string at(std::string_view name) { return dir.path() + "/" + std::string(name); }
  struct stat stat_of(const std::string& path) {
    struct stat st {};
    EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
    return st;
  }
  std::optional<Credentials> nobody() { return Credentials{Uid{65534}, Gid{65533}, {65533, 4321}}; }
};

TEST_F(Files, ReadIsBounded) {
  ASSERT_TRUE(write_file_atomic(at("a"), std::string(10000, 'x')));
  EXPECT_EQ(read_file(at("a"))->size(), 10000u);
  EXPECT_EQ(read_file(at("a"), 10000)->size(), 10000u);
  EXPECT_FALSE(read_file(at("a"), 9999));
  EXPECT_FALSE(read_file("/dev/zero", 100000));
  EXPECT_GT(read_file("/proc/cpuinfo")->size(), 10u);
  EXPECT_EQ(read_file(at("none")).error().code, Errc::kNotFound);
  ASSERT_TRUE(write_file_atomic(at("l"), "first\nsecond"));
  EXPECT_EQ(*read_line(at("l")), "first");
}

TEST_F(Files, AtomicReplaceLeavesNothingElse) {
  ASSERT_TRUE(write_file_atomic(at("f"), "one", 0600));
  ASSERT_TRUE(write_file_atomic(at("f"), "two", 0640));
  EXPECT_EQ(*read_file(at("f")), "two");
  EXPECT_EQ(stat_of(at("f")).st_mode & 0777, 0640u);
  EXPECT_EQ(run_captured({.path = "ls", .argv = {"ls", dir.path()}}, seconds(5))->output, "f\n");
  ASSERT_EQ(mkdir(at("d").c_str(), 0755), 0);
  EXPECT_FALSE(write_file_atomic(at("d"), "x"));
  EXPECT_FALSE(write_file_atomic(at("no/f"), "x"));
  EXPECT_EQ(run_captured({.path = "ls", .argv = {"ls", dir.path()}}, seconds(5))->output, "d\nf\n");
}

TEST_F(Files, MakeDirs) {
  ASSERT_TRUE(make_dirs(at("a/b//c/"), 0750));
  EXPECT_EQ(stat_of(at("a/b/c")).st_mode & 0777, 0750u);
  ASSERT_TRUE(make_dirs(at("a/b/c")));
  ASSERT_TRUE(write_file_atomic(at("file"), ""));
  EXPECT_EQ(make_dirs(at("file/x")).error().message(), "mkdir " + at("file/x") + ": Not a directory");
  EXPECT_FALSE(make_dirs(at("file")));
  EXPECT_TRUE(make_dirs("/"));
}

TEST_F(Files, ActsWithTheUsersRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may act as another user";
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(mkdir(at("open").c_str(), 0777), 0);
  ASSERT_EQ(chmod(at("open").c_str(), 0777), 0);
  ASSERT_TRUE(write_file_atomic(at("secret"), "s", 0600));
  ASSERT_TRUE(write_file_atomic(at("group"), "g", 0640));
  ASSERT_EQ(chown(at("group").c_str(), 0, 4321), 0);
  {
    auto as = ActAs::user(nobody());
    ASSERT_TRUE(as);
    EXPECT_EQ(make_dirs(at("mine"), 0777).error().code, Errc::kAccessDenied);
    ASSERT_TRUE(make_dirs(at("open/x/y"), 0755));
    auto out = open_output(at("open/new/job.out"), {.make_parents = true, .mode = 0640});
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(open_input(at("secret")).error().code, Errc::kAccessDenied);
    EXPECT_TRUE(open_input(at("group")));  // through a supplementary group
  }
  EXPECT_EQ(stat_of(at("open/x/y")).st_uid, 65534u);
  EXPECT_EQ(stat_of(at("open/x/y")).st_gid, 65533u);
  EXPECT_EQ(stat_of(at("open/new/job.out")).st_uid, 65534u);
  EXPECT_EQ(stat_of(at("open/new/job.out")).st_mode & 0777, 0640u);
  // afterwards we are root again, all of it
  EXPECT_TRUE(open_input(at("secret")));
  ASSERT_TRUE(make_dirs(at("mine")));
  EXPECT_EQ(stat_of(at("mine")).st_uid, 0u);
}

TEST_F(Files, OtherThreadsKeepTheirIdentity) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may act as another user";
  ASSERT_TRUE(write_file_atomic(at("secret"), "s", 0600));
  // It must be there before: a new thread starts with the identity of the one that makes it.
  std::binary_semaphore look(0), looked(0);
  bool other_reads = false;
  std::thread other([&] {
    look.acquire();
    other_reads = read_file(at("secret")).has_value();
    looked.release();
  });
  {
    auto as = ActAs::user(nobody());
    ASSERT_TRUE(as);
    EXPECT_FALSE(read_file(at("secret")));
    look.release();
    looked.acquire();
  }
  other.join();
  EXPECT_TRUE(other_reads);
}

TEST_F(Files, OutputAppendTruncateAndOddFiles) {
  auto fd = open_output(at("o"), {});
  ASSERT_TRUE(write_all(fd->get(), "one"));
  fd = open_output(at("o"), {.append = true});
  ASSERT_TRUE(write_all(fd->get(), "two"));
  EXPECT_EQ(*read_file(at("o")), "onetwo");
  fd = open_output(at("o"), {});
  EXPECT_EQ(*read_file(at("o")), "");
  EXPECT_EQ(stat_of(at("o")).st_mode & 0777, 0666u);
  EXPECT_TRUE(open_output("/dev/null", {}));
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(open_output(at("fifo"), {}).error().message(), at("fifo") + ": No such device or address");
  EXPECT_FALSE(open_output(dir.path(), {}));
  EXPECT_EQ(open_output(at("no/o"), {}).error().code, Errc::kNotFound);
  ASSERT_EQ(symlink("target", at("link").c_str()), 0);
  EXPECT_TRUE(open_output(at("link"), {}));
  EXPECT_TRUE(read_file(at("target")));
}

TEST_F(Files, LocksExclude) {
  auto lock = FileLock::take(at("lock"));
  ASSERT_TRUE(lock);
  auto second = FileLock::take(at("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), at("lock") + ": locked by another process");
  lock = fail("released");
  EXPECT_TRUE(FileLock::take(at("lock")));
}

TEST_F(Files, PidFileTellsWhoRunsAndForgivesCrashes) {
  EXPECT_FALSE(running_pid(at("pid")));
  {
    auto pid = PidFile::create(at("pid"));
    ASSERT_TRUE(pid);
    EXPECT_EQ(*read_file(at("pid")), std::to_string(getpid()) + "\n");
    EXPECT_EQ(running_pid(at("pid")), getpid());
    EXPECT_EQ(PidFile::create(at("pid")).error().message(), at("pid") + ": already running as process " + std::to_string(getpid()));
  }
  EXPECT_FALSE(read_file(at("pid")));
  ASSERT_TRUE(write_file_atomic(at("pid"), "1\n"));  // left by a crash; process 1 lives but holds no lock
  EXPECT_FALSE(running_pid(at("pid")));
  EXPECT_TRUE(PidFile::create(at("pid")));
  EXPECT_EQ(PidFile::create(at("no/pid")).error().code, Errc::kNotFound);
}

TEST_F(Files, TempDirGoesWithContentButNotThroughLinks) {
  std::string path;
  ASSERT_TRUE(write_file_atomic(at("keep"), "k"));
  {
    auto t = *TempDir::create("muster-inner-");
    path = t.path();
    EXPECT_EQ(stat_of(path).st_mode & 0777, 0700u);
    ASSERT_TRUE(make_dirs(path + "/a/b"));
    ASSERT_TRUE(write_file_atomic(path + "/a/b/f", "x"));
    ASSERT_EQ(symlink(dir.path().c_str(), (path + "/out").c_str()), 0);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(read_file(at("keep")));
  EXPECT_TRUE(remove_tree(path));
}

// As an owner who is not root: root may enter anything.
TEST_F(Files, ATreeThatItsOwnerClosedGoesToo) {
  ASSERT_TRUE(make_dirs(at("closed/a/b")));
  ASSERT_TRUE(write_file_atomic(at("closed/a/f"), "x"));
  ASSERT_TRUE(make_dirs(at("other")));
  ASSERT_EQ(chmod(at("other").c_str(), 0500), 0);
  ASSERT_EQ(symlink(at("other").c_str(), at("closed/link").c_str()), 0);
  const uid_t nobody = 65534;
  for (const char* name : {"", "closed/a/f", "closed/a/b", "closed/a", "closed", "other"})
    if (geteuid() == 0) {
      ASSERT_EQ(chown(at(name).c_str(), nobody, nobody), 0);
    }
  for (const char* name : {"closed/a/b", "closed/a", "closed"}) ASSERT_EQ(chmod(at(name).c_str(), 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(2);
    _exit(remove_tree(at("closed")) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(access(at("closed").c_str(), F_OK), 0);
  EXPECT_EQ(stat_of(at("other")).st_mode & 0777, 0500u);
}

TEST_F(Files, DiskSpace) {
  auto d = disk_space("/tmp");
  ASSERT_TRUE(d);
  EXPECT_GT(d->total, 0u);
  EXPECT_LE(d->available, d->total);
  EXPECT_FALSE(disk_space("/no/such"));
}

}  // namespace
}  // namespace muster::os
