#include "os/job_namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/text.h"
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

// ---- namespaces of processes and users
JobNamespaceSpec contained(const Place& place, const std::string& dir) {
  JobNamespaceSpec spec{place.base(), "7", Uid(kSomebody), own({dir}), false, {"/bin/sleep", "the job's first", "1000"}, false, {}};
  return spec;
}

TEST(JobNamespace, ItsProcessesSeeOnlyEachOther) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  const std::string dir = place.folder("scratch");
  auto made = make_job_namespace(contained(place, dir));
  ASSERT_TRUE(made) << made.error().message();
  auto space = open_job_namespace(namespace_file(place.base(), "7"));
  ASSERT_TRUE(space && space->pid);
  EXPECT_EQ(run(*space, "cat /proc/1/cmdline | tr '\\0' ' '; ls /proc | grep -c '^[0-9]*$'").substr(0, 23), "the job's first 1000 4\n")
      << "the first, the shell, ls and grep";
  EXPECT_EQ(run(*space, "kill -9 1 2>/dev/null; kill -0 " + std::to_string(::getpid()) + " 2>/dev/null || echo neither"), "neither\n");
  EXPECT_EQ(run(*space, "umount /proc 2>/dev/null || echo stays"), "stays\n");
  // What is left behind belongs to the first; it ends with the namespace. We know it by our numbers.
  SpawnSpec left{.path = "/bin/sleep", .argv = {"sleep", "1000"}, .cwd = "/"};
  left.namespaces = space->fds();
  left.credentials = Credentials{Uid(kSomebody), Gid(kSomebody), {}};
  auto pid = spawn(left);
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_EQ(::kill(*pid, 0), 0);
  // Nothing is left of that in us: our next child is in ours.
  EXPECT_EQ(run(OpenNamespace(), "echo $PPID"), std::to_string(::getpid()) + "\n");
  // The namespace is not over before all that was in it has been waited for, by us too.
  int signal = 0;
  std::thread waits([&] {
    if (auto ended = wait_child(*pid, seconds(30))) signal = ended->status.signal;
  });
  auto closed = close_job_namespace({place.base()}, "7");
  waits.join();
  ASSERT_TRUE(closed) << closed.error().message();
  EXPECT_EQ(signal, SIGKILL) << "the end of the namespace is the end of all in it";
  EXPECT_FALSE(spawn(left)) << "nobody comes into it any more";
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
  EXPECT_TRUE(jobs_with_namespace(place.base())->empty());
}

TEST(JobNamespace, AFirstProcessThatCannotBe) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  JobNamespaceSpec spec = contained(place, place.folder("scratch"));
  spec.first_process = {"/bin/absent", "x"};
  auto made = make_job_namespace(spec);
  ASSERT_FALSE(made);
  EXPECT_NE(std::string(made.error().message()).find("/bin/absent: No such file"), std::string::npos) << made.error().message();
  EXPECT_FALSE(exists(place.base() + "/7"));
}

TEST(JobNamespace, ANumberThatIsAnothersByNowIsLeftAlone) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  ASSERT_TRUE(make_job_namespace(contained(place, place.folder("scratch"))));
  const std::string record = namespace_file(place.base(), "7") + ".first";
  const auto first = parse_number<pid_t>(*read_file(record));
  ASSERT_TRUE(first);
  SpawnSpec other{.path = "/bin/sleep", .argv = {"sleep", "1000"}};
  auto pid = spawn(other);
  ASSERT_TRUE(pid);
  {
    const Fd file(::open(record.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    const std::string text = std::to_string(*pid);
    ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  EXPECT_TRUE(close_job_namespace({place.base()}, "7"));
  EXPECT_EQ(::kill(*pid, 0), 0);
  ::kill(*pid, SIGKILL);
  ::kill(*first, SIGKILL);
  EXPECT_TRUE(wait_child(*pid, seconds(10)));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
}

TEST(JobNamespace, AUserIsHimselfInItsUsers) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  const std::string dir = place.folder("scratch");
  JobNamespaceSpec spec = contained(place, dir);
  spec.own_users = true;
  auto made = make_job_namespace(spec);
  ASSERT_TRUE(made) << made.error().message();
  auto space = open_job_namespace(namespace_file(place.base(), "7"));
  ASSERT_TRUE(space && space->user);
  EXPECT_EQ(run(*space, "id -u; id -g; touch " + dir + "/mine && stat -c %u " + dir + "/mine"), "65534\n65534\n65534\n");
  EXPECT_TRUE(run(*space, "readlink /proc/self/ns/user").starts_with("user:["));
  char ours[64] = {};
  ASSERT_GT(::readlink("/proc/self/ns/user", ours, sizeof ours - 1), 0);
  EXPECT_NE(run(*space, "readlink /proc/self/ns/user"), std::string(ours) + "\n");
  EXPECT_EQ(run(*space, "grep CapEff /proc/self/status"), "CapEff:\t0000000000000000\n");
  // Rights in there are none out here, root's neither.
  EXPECT_EQ(run(*space, "mount -t tmpfs none " + dir + " 2>/dev/null || echo no; umount " + dir + " 2>/dev/null || echo no", 0), "no\nno\n");
  // A directory that is closed to the user stays closed on the way into it.
  ::mkdir((place.path() + "/closed").c_str(), 0700);
  SpawnSpec closed{.path = "/bin/true", .argv = {"true"}, .cwd = place.path() + "/closed"};
  closed.namespaces = space->fds();
  closed.credentials = Credentials{Uid(kSomebody), Gid(kSomebody), {}};
  auto went = spawn(closed);
  ASSERT_FALSE(went);
  EXPECT_NE(std::string(went.error().message()).find("Permission denied"), std::string::npos) << went.error().message();
  ASSERT_TRUE(close_job_namespace({place.base()}, "7"));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
}

TEST(JobNamespace, UsersAsAScriptMapsThem) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  const std::string dir = place.folder("scratch");
  JobNamespaceSpec spec = contained(place, dir);
  spec.own_users = true;
  spec.map_users = [](pid_t) { return Result<>(); };
  auto made = make_job_namespace(spec);
  ASSERT_FALSE(made);
  EXPECT_NE(std::string(made.error().message()).find("has no user"), std::string::npos) << made.error().message();
  spec.map_users = [](pid_t pid) -> Result<> {
    for (const char* map : {"uid_map", "gid_map"}) {
      const Fd file(::open(("/proc/" + std::to_string(pid) + "/" + map).c_str(), O_WRONLY | O_CLOEXEC));
      if (::write(file.get(), "0 65534 1", 9) != 9) return fail("not written");
    }
    return {};
  };
  made = make_job_namespace(spec);
  ASSERT_TRUE(made) << made.error().message();
  auto space = open_job_namespace(namespace_file(place.base(), "7"));
  ASSERT_TRUE(space);
  EXPECT_EQ(run(*space, "id -u; touch " + dir + "/mine && echo made"), "0\nmade\n") << "is called root in there";
  struct stat st {};
  ASSERT_EQ(::stat((place.base() + "/7/" + private_name(dir) + "/mine").c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, kSomebody) << "and is who he was out here";
  ASSERT_TRUE(close_job_namespace({place.base()}, "7"));
  ASSERT_TRUE(sweep_job_namespaces(place.base()));
}

TEST(JobNamespace, EachDirectoryAsItIsConfigured) {
  const Place place;
  if (!may_mount(place)) GTEST_SKIP() << "needs root that may mount";
  const std::string other = place.path() + "/other", bound = place.folder("bound"), memory = place.folder("memory");
  ASSERT_TRUE(prepare_namespace_base(other, true));
  JobNamespaceSpec spec{place.base(), "7", Uid(kSomebody), {{bound, other, "noexec,nosuid,size=1m", false}, {memory, {}, "size=64k,mode=1777", true}}};
  auto made = make_job_namespace(spec);
  ASSERT_TRUE(made) << made.error().message();
  auto space = open_job_namespace(namespace_file(place.base(), "7"));
  ASSERT_TRUE(space);
  EXPECT_EQ(run(*space, "findmnt -no OPTIONS " + bound + " | tr , '\\n' | grep -c '^no[es][xu]'"), "2\n");
  EXPECT_EQ(run(*space, "cp /bin/true " + bound + " && " + bound + "/true 2>/dev/null || echo not run"), "not run\n");
  EXPECT_EQ(run(*space, "stat -fc %T " + memory + "; stat -c %a " + memory + "; head -c 99999 /dev/zero > " + memory + "/x 2>/dev/null || echo full"),
            "tmpfs\n1777\nfull\n");
  EXPECT_TRUE(exists(other + "/7/" + private_name(bound) + "/true"));
  EXPECT_FALSE(exists(place.base() + "/7/" + private_name(bound)));
  ASSERT_TRUE(close_job_namespace({place.base(), other}, "7"));
  EXPECT_FALSE(exists(other + "/7") || exists(place.base() + "/7"));
  for (const std::string& base : {place.base(), other}) EXPECT_TRUE(sweep_job_namespaces(base));
  EXPECT_TRUE(jobs_with_namespace(other)->empty());
  ::umount2(other.c_str(), MNT_DETACH);
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
