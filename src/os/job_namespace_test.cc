#include "os/job_namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/errand.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::os {
namespace {

constexpr uint32_t kSomebody = 65534;

// A place that root alone changes, which no folder of everybody's is.
class Place {
 public:
  Place() {
    std::string path = "/run/muster-ns-XXXXXX";
    if (::geteuid() == 0 && ::mkdtemp(path.data())) path_ = path;
    if (!path_.empty()) ::chmod(path_.c_str(), 0755);
  }
  ~Place() {
    if (path_.empty()) return;
    ::umount2((path_ + "/base").c_str(), MNT_DETACH);
    static_cast<void>(remove_tree(path_));
  }
  const std::string& path() const { return path_; }
  std::string base() const { return path_ + "/base"; }
  std::string folder(const std::string& name) const {
    ::mkdir((path_ + "/" + name).c_str(), 0755);
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

// Whether this machine lets root mount.
bool may_mount(const Place& place) { return !place.path().empty() && prepare_namespace_base(place.base(), true).has_value(); }

// What the shell prints in the namespace, as that user.
std::string run(const OpenNamespace& space, const std::string& script, uint32_t uid = kSomebody) {
  SpawnSpec spec{.path = "/bin/sh", .argv = {"sh", "-c", script}, .cwd = "/"};
  spec.credentials = Credentials{Uid(uid), Gid(uid), {}};
  spec.namespaces = space.fds();
  auto ran = run_captured(spec, seconds(20));
  return ran ? ran->output : std::string(ran.error().message());
}

std::vector<PrivateDirSpec> own(const std::vector<std::string>& paths) {
  std::vector<PrivateDirSpec> out;
  for (const std::string& path : paths) out.push_back({path, {}, {}, false});
  return out;
}

bool exists(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0;
}

void put(const std::string& path) { ASSERT_TRUE(Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))) << path; }

TEST(JobNamespace, Names) {
  EXPECT_EQ(private_name("/tmp"), "_tmp");
  EXPECT_EQ(private_name("/var/tmp"), "_var_tmp");
  EXPECT_EQ(namespace_file("/b", "7"), "/b/7/.ns");
}

TEST(JobNamespace, WhatCannotBeItsBase) {
  const Place place;
  if (place.path().empty()) GTEST_SKIP() << "needs root";
  auto said = [](const Result<>& r) { return r ? std::string() : std::string(r.error().message()); };
  EXPECT_NE(said(prepare_namespace_base(place.base(), false)).find("No such file"), std::string::npos);
  const std::string open = place.folder("open");
  ::chmod(open.c_str(), 0777);
  EXPECT_NE(said(prepare_namespace_base(open, false)).find("others may write to it"), std::string::npos);
  ::mkdir((open + "/below").c_str(), 0755);
  EXPECT_NE(said(prepare_namespace_base(open + "/below", false)).find(open + ": others may write"), std::string::npos);
  ASSERT_EQ(::symlink(open.c_str(), place.base().c_str()), 0);
  EXPECT_NE(said(prepare_namespace_base(place.base(), true)).find("symbolic link"), std::string::npos);
  const std::string theirs = place.folder("theirs");
  ASSERT_EQ(::chown(theirs.c_str(), kSomebody, 0), 0);
  EXPECT_NE(said(prepare_namespace_base(theirs, false)).find("has to be root's"), std::string::npos);
  EXPECT_NE(said(check_private_dir(open + "/x")).find("others may write"), std::string::npos);
  EXPECT_NE(said(check_private_dir(place.base())).find("symbolic link"), std::string::npos);
  EXPECT_EQ(said(check_private_dir(theirs)), "");
}

TEST(JobNamespace, TwoJobsDoNotMeet) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  ASSERT_TRUE(prepare_namespace_base(place.base(), false)) << "again, after a restart";
  const std::string dir = place.folder("scratch");
  put(dir + "/of-the-node");
  for (const char* job : {"7", "8"}) {
    auto made = make_job_namespace({place.base(), job, Uid(kSomebody), own({dir, "/dev/shm"})});
    ASSERT_TRUE(made) << made.error().message();
  }
  auto seven = open_job_namespace(namespace_file(place.base(), "7")), eight = open_job_namespace(namespace_file(place.base(), "8"));
  ASSERT_TRUE(seven && eight);
  EXPECT_EQ(run(*seven, "stat -c '%a %u' " + dir + " /dev/shm; ls -A " + dir + "; ls -A /dev/shm"), "700 65534\n700 65534\n");
  EXPECT_EQ(run(*seven, "cd " + dir + " && echo seven > mine && echo shm > /dev/shm/mine && cat mine"), "seven\n");
  EXPECT_EQ(run(*seven, "ls " + dir + "; ls /dev/shm"), "mine\nmine\n");
  EXPECT_EQ(run(*eight, "ls " + dir + " ; ls /dev/shm"), "");
  EXPECT_NE(run(*eight, "ls " + place.base() + "/7").find("Permission denied"), std::string::npos) << "the folder is root's";
  EXPECT_TRUE(exists(place.base() + "/7/" + private_name(dir) + "/mine"));
  EXPECT_TRUE(exists(dir + "/of-the-node") && !exists(dir + "/mine"));
  // An errand is in it, too.
  Errand errand;
  const size_t out = errand.open_output(dir + "/by-errand", {});
  errand.enter(seven->mount.get());
  ASSERT_TRUE(errand.start(Credentials{Uid(kSomebody), Gid(kSomebody), {}}));
  ASSERT_TRUE(errand.over_within(seconds(10)));
  ASSERT_TRUE(errand.take(out));
  EXPECT_TRUE(exists(place.base() + "/7/" + private_name(dir) + "/by-errand"));

  auto jobs = jobs_with_namespace(place.base());
  ASSERT_TRUE(jobs);
  std::ranges::sort(*jobs);
  EXPECT_EQ(*jobs, (std::vector<JobId>{JobId(7), JobId(8)}));
  ASSERT_TRUE(close_job_namespace({place.base()}, "7"));
  ASSERT_TRUE(close_job_namespace({place.base()}, "7")) << "absent is fine";
  EXPECT_FALSE(open_job_namespace(namespace_file(place.base(), "7")));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
  EXPECT_EQ(*jobs_with_namespace(place.base()), std::vector<JobId>{JobId(8)});
  EXPECT_EQ(run(*eight, "echo on > " + dir + "/x && cat " + dir + "/x"), "on\n");
  ASSERT_TRUE(close_job_namespace({place.base()}, "8"));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
  EXPECT_EQ(::rmdir((place.base() + "/8").c_str()), -1);
}

TEST(JobNamespace, TheSameJobAgainStartsAfresh) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  const JobNamespaceSpec spec{place.base(), "7", Uid(kSomebody), own({place.folder("scratch")})};
  ASSERT_TRUE(make_job_namespace(spec));
  put(place.base() + "/7/" + private_name(spec.dirs[0].path) + "/old");
  auto again = make_job_namespace(spec);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_FALSE(exists(place.base() + "/7/" + private_name(spec.dirs[0].path) + "/old"));
  JobNamespaceSpec wrong = spec;
  wrong.job = "9";
  wrong.dirs = own({place.path() + "/absent"});
  auto failed = make_job_namespace(wrong);
  ASSERT_FALSE(failed);
  EXPECT_NE(std::string(failed.error().message()).find("/absent"), std::string::npos);
  EXPECT_FALSE(exists(place.base() + "/9")) << "nothing is left of what failed";
  ASSERT_TRUE(close_job_namespace({place.base()}, "7"));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
}

// ---- what users leave
class Left {
 public:
  Left() : dir_(std::move(*TempDir::create("left"))) {
    ::mkdir(at("base").c_str(), 0755);
    ::mkdir(at("base/.gone.7.1").c_str(), 0700);
    ::mkdir(tmp().c_str(), 0700);
  }
  std::string at(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string tmp() const { return at("base/.gone.7.1/_tmp"); }
  Result<> sweep() const { return sweep_job_namespaces(at("base")); }
  bool is_empty() const { return ::rmdir(at("base").c_str()) == 0; }

 private:
  TempDir dir_;
};

TEST(JobNamespaceSweep, LinksLeadNowhere) {
  const Left left;
  ::mkdir(left.at("outside").c_str(), 0755);
  put(left.at("outside/file"));
  ASSERT_EQ(::symlink(left.at("outside").c_str(), (left.tmp() + "/dir").c_str()), 0);
  ASSERT_EQ(::symlink((left.at("outside") + "/file").c_str(), (left.tmp() + "/file").c_str()), 0);
  ASSERT_EQ(::link(left.at("outside/file").c_str(), (left.tmp() + "/other-name").c_str()), 0);
  ASSERT_EQ(::mkfifo((left.tmp() + "/fifo").c_str(), 0600), 0);
  auto swept = left.sweep();
  EXPECT_TRUE(swept) << swept.error().message();
  EXPECT_TRUE(exists(left.at("outside/file")));
  EXPECT_TRUE(left.is_empty());
}

TEST(JobNamespaceSweep, HoweverDeepAndWide) {
  const Left left;
  Fd at(::open(left.tmp().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    Fd(::openat(at.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    at = Fd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  at.reset();
  for (int i = 0; i < 5000; ++i) put(left.tmp() + "/" + std::to_string(i));
  auto swept = left.sweep();
  EXPECT_TRUE(swept) << swept.error().message();
  EXPECT_TRUE(left.is_empty());
}

TEST(JobNamespaceSweep, WhatMayNotBeChanged) {
  const Left left;
  const std::string folder = left.tmp() + "/folder", file = folder + "/file";
  ::mkdir(folder.c_str(), 0000);
  put(file);
  for (const std::string& path : {file, folder}) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    int flags = 0;
    if (!fd || ::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) < 0) GTEST_SKIP() << "a file system without such flags";
    flags |= FS_IMMUTABLE_FL;
    if (::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) < 0) GTEST_SKIP() << "we may not set them";
  }
  auto swept = left.sweep();
  EXPECT_TRUE(swept) << swept.error().message();
  EXPECT_TRUE(left.is_empty());
}

// What is mounted below is not ours to empty.
TEST(JobNamespaceSweep, StaysWithinItsMount) {
  const Left left;
  const std::string mount = left.tmp() + "/mount";
  ::mkdir(mount.c_str(), 0755);
  ::mkdir(left.at("outside").c_str(), 0755);
  put(left.at("outside/file"));
  if (::mount(left.at("outside").c_str(), mount.c_str(), nullptr, MS_BIND, nullptr) < 0) GTEST_SKIP() << "needs root that may mount";
  put(left.tmp() + "/beside");
  auto swept = left.sweep();
  EXPECT_FALSE(swept);
  EXPECT_TRUE(exists(left.at("outside/file")));
  EXPECT_FALSE(exists(left.tmp() + "/beside"));
  ASSERT_EQ(::umount2(mount.c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(left.sweep()) << "the next time";
  EXPECT_TRUE(left.is_empty());
}

}  // namespace
}  // namespace muster::os
