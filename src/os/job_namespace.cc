#include "os/job_namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"
#include "os/mount_options.h"
#include "os/namespace_names.h"

namespace muster::os {
namespace {

constexpr long kNsfs = 0x6e736673;
constexpr const char kSharedMemory[] = "/dev/shm";
constexpr Duration kProcessesEnd = seconds(20);  // after SIGKILL

bool is_tmpfs(const PrivateDirSpec& dir) { return dir.tmpfs || dir.path == kSharedMemory; }
const std::string& base_of(const JobNamespaceSpec& spec, const PrivateDirSpec& dir) { return dir.base.empty() ? spec.base : dir.base; }

// Each once, that of the namespaces first.
std::vector<std::string> bases_of(const JobNamespaceSpec& spec) {
  std::vector<std::string> out{spec.base};
  for (const PrivateDirSpec& dir : spec.dirs)
    if (std::ranges::find(out, base_of(spec, dir)) == out.end()) out.push_back(base_of(spec, dir));
  return out;
}

// A directory, reached without following any link.
Result<Fd> open_directory(const std::string& path, int flags = O_PATH) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_DIRECTORY | O_CLOEXEC);
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  if (fd) return fd;
  if (errno == ELOOP) return fail(Errc::kInvalidArgument, path + ": goes through a symbolic link; name the directory itself");
  return fail_errno(path);
}

std::string by_number(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// Held while BASE/JOB comes or goes, so that two runs of a job do not meet.
Result<Fd> locked_base(const std::string& base) {
  MUSTER_TRY(fd, open_directory(base, O_RDONLY));
  while (::flock(fd.get(), LOCK_EX) < 0)
    if (errno != EINTR) return fail_errno(base);
  return fd;
}

Result<> only_roots(const Fd& dir, const std::string& path) {
  struct stat st {};
  if (::fstat(dir.get(), &st) < 0) return fail_errno(path);
  if (st.st_uid != 0) return fail(Errc::kAccessDenied, path + ": belongs to uid " + std::to_string(st.st_uid) + " and has to be root's");
  if (st.st_mode & 022) return fail(Errc::kAccessDenied, path + ": others may write to it; it has to be root's alone", "chmod 755 " + path);
  return {};
}

// Each directory from / to `path`, or, without `itself`, to the one above it.
Result<> all_roots(const std::string& path, bool itself) {
  for (size_t end = 0; end != path.npos; end = path.find('/', end + 1)) {
    const std::string part = end == 0 ? "/" : path.substr(0, end);
    MUSTER_TRY(dir, open_directory(part));
    MUSTER_TRY_VOID(only_roots(dir, part));
  }
  if (!itself) return {};
  MUSTER_TRY(dir, open_directory(path));
  return only_roots(dir, path);
}

Result<bool> is_mount(const Fd& dir, const std::string& path) {
  struct statx st {};
  if (::statx(dir.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0) return fail_errno(path);
  if (!(st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)) return fail(Errc::kUnsupported, "this kernel does not tell mounts (Linux 5.8)");
  return (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

Result<> mounted(int result, const std::string& what) {
  if (result == 0) return {};
  if (errno == EPERM) return fail(Errc::kAccessDenied, what + ": Operation not permitted (it needs CAP_SYS_ADMIN)");
  return fail_errno(what);
}

// ---- in the process whose namespace it becomes
struct Private {
  std::string dir;
  MountOptions options;
  Fd source, target;  // no source: a tmpfs
};

Result<std::vector<Private>> open_all(const JobNamespaceSpec& spec) {
  std::vector<Private> out;
  for (const PrivateDirSpec& dir : spec.dirs) {
    Private& p = out.emplace_back();
    p.dir = dir.path;
    p.options = read_mount_options(dir.options);
    MUSTER_TRY(target, open_directory(dir.path));
    p.target = std::move(target);
    if (is_tmpfs(dir)) continue;
    MUSTER_TRY(source, open_directory(base_of(spec, dir) + "/" + spec.job + "/" + private_name(dir.path)));
    p.source = std::move(source);
  }
  return out;
}

// A bind mount takes no flags when it is made, and those that it has must be named again.
Result<> restrict_bind(const std::string& dir, unsigned long flags) {
  constexpr std::pair<unsigned long, unsigned long> kKept[] = {
      {ST_NOATIME, MS_NOATIME}, {ST_NODEV, MS_NODEV},   {ST_NODIRATIME, MS_NODIRATIME}, {ST_NOEXEC, MS_NOEXEC},
      {ST_NOSUID, MS_NOSUID},   {ST_RDONLY, MS_RDONLY}, {ST_RELATIME, MS_RELATIME},
  };
  MUSTER_TRY(top, open_directory(dir));  // the mount, and not what it hides
  struct statvfs has {};
  if (::fstatvfs(top.get(), &has) < 0) return fail_errno(dir);
  for (const auto& [is, flag] : kKept)
    if (has.f_flag & is) flags |= flag;
  return mounted(::mount(nullptr, by_number(top).c_str(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr), dir);
}

Result<> put_in_place(const Private& p, Uid owner) {
  const std::string at = by_number(p.target);
  if (!p.source) {
    std::string data = "mode=0700,uid=" + std::to_string(owner.value);
    if (!p.options.data.empty()) data += "," + p.options.data;
    return mounted(::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | p.options.flags, data.c_str()), p.dir);
  }
  MUSTER_TRY_VOID(mounted(::mount(by_number(p.source).c_str(), at.c_str(), nullptr, MS_BIND, nullptr), p.dir));
  return p.options.flags ? restrict_bind(p.dir, p.options.flags) : Result<>();
}

Result<> put_in_place(const JobNamespaceSpec& spec) {
  // In the new namespace nothing may be passed on to the node's.
  const unsigned long how = spec.shared ? MS_SLAVE : MS_PRIVATE;
  MUSTER_TRY_VOID(mounted(::mount(nullptr, "/", nullptr, MS_REC | how, nullptr), "the job's mounts"));
  MUSTER_TRY(all, open_all(spec));  // before one of them hides another's source
  for (const Private& p : all) MUSTER_TRY_VOID(put_in_place(p, spec.uid));
  return {};
}

// Becomes the program of the namespace's first process, in the namespace's own /proc. Tells through `words` what went wrong.
[[noreturn]] void be_first(const JobNamespaceSpec& spec, int words) {
  auto tell = [words](const Result<>& fault) {
    const std::string_view why = fault.error().message();
    ::_exit(::write(words, why.data(), why.size()) < 0 ? 2 : 1);
  };
  const auto proc = mounted(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "/proc");
  if (!proc) tell(proc);
  ::setsid();
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= 2; ++fd)  // somebody reads those that we have, and waits for their end
    if (::dup2(null.get(), fd) < 0) tell(fail_errno("/dev/null"));
  if (::chdir("/") < 0) tell(fail_errno("/"));
  std::vector<char*> arguments;
  for (size_t i = 1; i < spec.first_process.size(); ++i) arguments.push_back(const_cast<char*>(spec.first_process[i].c_str()));
  arguments.push_back(nullptr);
  ::execv(spec.first_process[0].c_str(), arguments.data());
  tell(fail_errno(spec.first_process[0]));
  __builtin_unreachable();
}

// In the process whose children are in the new namespace: starts the first of them, and waits until it runs its program.
Result<pid_t> start_first(const JobNamespaceSpec& spec) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) be_first(spec, writing.get());
  writing.reset();
  char said[1024];
  const ssize_t n = ::read(reading.get(), said, sizeof said);
  if (n == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return fail(n > 0 ? std::string(said, static_cast<size_t>(n)) : "the first process of the namespace died");
}

// Says through `words` what went wrong, or a zero and `more`; then lives until `words` is closed at the other end.
[[noreturn]] void say_and_stay(int words, const Result<>& ready, const std::string& more = {}) {
  const std::string say = ready ? std::string(1, '\0') + more : std::string(ready.error().message());
  if (::write(words, say.data(), say.size()) < 0) ::_exit(1);
  char go;
  [[maybe_unused]] const ssize_t n = ::read(words, &go, 1);
  ::_exit(0);
}

[[noreturn]] void be_the_namespace(const JobNamespaceSpec& spec, int words) {
  const bool own_processes = !spec.first_process.empty();
  auto ready = mounted(::unshare(CLONE_NEWNS | (own_processes ? CLONE_NEWPID : 0)), "a mount namespace");
  if (ready) ready = put_in_place(spec);
  if (!ready || !own_processes) say_and_stay(words, ready);
  const auto first = start_first(spec);
  if (first) say_and_stay(words, {}, std::to_string(*first));
  say_and_stay(words, std::unexpected(first.error()));
}

[[noreturn]] void be_the_users(const JobNamespaceSpec&, int words) {
  say_and_stay(words, mounted(::unshare(CLONE_NEWUSER), "a namespace of users"));
}

// ---- around it
struct Maker {
  pid_t pid = 0;
  Fd words;
  ~Maker() {
    words.reset();
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
  std::string proc(const char* what) const { return "/proc/" + std::to_string(pid) + "/" + what; }
};

// What it says behind its zero.
Result<std::string> begin(const JobNamespaceSpec& spec, void (*be)(const JobNamespaceSpec&, int), Maker& maker) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return fail_errno("socketpair");
  maker.words.reset(ends[0]);
  Fd theirs(ends[1]);
  maker.pid = ::fork();
  if (maker.pid < 0) return fail_errno("fork");
  if (maker.pid == 0) {
    maker.words.reset();
    be(spec, theirs.get());
  }
  theirs.reset();
  char said[1024];
  const ssize_t n = ::read(maker.words.get(), said, sizeof said);
  if (n >= 1 && said[0] == 0) return std::string(said + 1, static_cast<size_t>(n) - 1);
  return fail(n > 0 ? std::string(said, static_cast<size_t>(n)) : "the process that makes the namespace died");
}

Result<> make_directory(const std::string& path, const Fd& above, const std::string& name, Uid owner) {
  if (::mkdirat(above.get(), name.c_str(), 0700) == 0 &&
      ::fchownat(above.get(), name.c_str(), owner.value, static_cast<gid_t>(-1), AT_SYMLINK_NOFOLLOW) == 0)
    return {};
  return fail_errno(path + "/" + name);
}

Result<> make_directories(const JobNamespaceSpec& spec) {
  for (const std::string& base : bases_of(spec)) {
    const std::string path = base + "/" + spec.job;
    MUSTER_TRY(above, open_directory(base));
    if (::mkdirat(above.get(), spec.job.c_str(), 0700) < 0) return fail_errno(path);
    MUSTER_TRY(job, open_directory(path));
    for (const PrivateDirSpec& dir : spec.dirs)
      if (!is_tmpfs(dir) && base_of(spec, dir) == base) MUSTER_TRY_VOID(make_directory(path, job, private_name(dir.path), spec.uid));
  }
  return {};
}

Result<Fd> make_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400));
  return file ? Result<Fd>(std::move(file)) : fail_errno(path);
}

Result<> hold(const std::string& space, const std::string& file) {
  MUSTER_TRY(made, make_file(file));
  return mounted(::mount(space.c_str(), file.c_str(), nullptr, MS_BIND, nullptr), file);
}

// Users whom nobody has named would own nothing, and could run nothing.
Result<> map_users(const JobNamespaceSpec& spec, const Maker& maker) {
  if (!spec.map_users) {
    for (const char* map : {"uid_map", "gid_map"}) {
      const Fd file(::open(maker.proc(map).c_str(), O_WRONLY | O_CLOEXEC));
      constexpr std::string_view kEachItself = "0 0 4294967295";
      if (!file || ::write(file.get(), kEachItself.data(), kEachItself.size()) < 0) return fail_errno(maker.proc(map));
    }
    return {};
  }
  MUSTER_TRY_VOID(spec.map_users(maker.pid));
  const Fd file(::open(maker.proc("uid_map").c_str(), O_RDONLY | O_CLOEXEC));
  char any;
  if (file && ::read(file.get(), &any, 1) == 1) return {};
  return fail(Errc::kConfig, "the job's namespace of users has no user: its script has not written /proc/$SLURM_NS_PID/uid_map");
}

Result<> hold_users(const JobNamespaceSpec& spec, const std::string& file) {
  Maker maker;
  MUSTER_TRY(made, begin(spec, be_the_users, maker));
  MUSTER_TRY_VOID(map_users(spec, maker));
  return hold(maker.proc("ns/user"), file + kUserEnd);
}

Result<> hold_all(const JobNamespaceSpec& spec) {
  const std::string file = namespace_file(spec.base, spec.job);
  if (spec.own_users) MUSTER_TRY_VOID(hold_users(spec, file));
  Maker maker;
  MUSTER_TRY(first, begin(spec, be_the_namespace, maker));
  if (!first.empty()) {
    MUSTER_TRY(record, make_file(file + kFirstProcessEnd));
    if (::write(record.get(), first.data(), first.size()) < 0) return fail_errno(file + kFirstProcessEnd);
    MUSTER_TRY_VOID(hold(maker.proc("ns/pid_for_children"), file + kPidEnd));
  }
  return hold(maker.proc("ns/mnt"), file);
}

// ---- its end
Result<Fd> open_space(const std::string& file) {
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return fail_errno(file);
  struct statfs fs {};
  if (::fstatfs(fd.get(), &fs) < 0 || fs.f_type != kNsfs)
    return fail(Errc::kNotFound, file + ": the job's namespace is not there any more");
  return fd;
}

bool is_in(pid_t pid, const Fd& space) {
  struct stat its {
  }, ours{};
  const std::string link = "/proc/" + std::to_string(pid) + "/ns/pid";
  return ::stat(link.c_str(), &its) == 0 && ::fstat(space.get(), &ours) == 0 && its.st_ino == ours.st_ino && its.st_dev == ours.st_dev;
}

// Ends the first process of the job's namespace of processes, and the kernel ends all others with it. It is over when each has been waited for
// by its parent, a slurmstepd for example.
Result<> end_processes(const std::string& file) {
  const auto space = open_space(file + kPidEnd);
  if (!space) return {};
  MUSTER_TRY(record, read_file(file + kFirstProcessEnd, 32));
  const auto pid = parse_number<pid_t>(trim(record), 1);
  if (!pid) return fail(file + kFirstProcessEnd + ": is no number");
  const auto process = open_pidfd(*pid);
  if (!process || !is_in(*pid, *space)) return {};  // it has ended; the number may be another's by now
  MUSTER_TRY_VOID(signal_pidfd(process->get(), SIGKILL));
  pollfd ended{process->get(), POLLIN, 0};
  const int milliseconds = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(kProcessesEnd).count());
  if (::poll(&ended, 1, milliseconds) > 0) return {};
  return fail(Errc::kTimedOut, "processes of the job cannot be ended");
}

Result<> put_aside(const std::string& path, const std::string& job) {
  MUSTER_TRY(base, open_directory(path));
  const std::string aside =
      std::string(kAside) + job + "." + std::to_string(monotonic_now().time_since_epoch().count()) + "." + std::to_string(::getpid());
  if (::renameat(base.get(), job.c_str(), base.get(), aside.c_str()) < 0 && errno != ENOENT) return fail_errno(path + "/" + job);
  return {};
}

// Whether or not its processes end, and whatever cannot be had in one place: as much of it as can go goes.
Result<> close_all(const std::vector<std::string>& bases, const std::string& job) {
  const std::string file = namespace_file(bases.front(), job);
  Result<> result = end_processes(file);
  auto also = [&result](Result<> next) {
    if (result) result = std::move(next);
  };
  for (const char* end : {kUserEnd, kPidEnd, ""}) {
    const std::string held = file + end;
    if (::umount2(held.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT) also(fail_errno(held));
  }
  for (const std::string& base : bases) also(put_aside(base, job));
  return result;
}

}  // namespace

std::string namespace_file(const std::string& base, const std::string& job) { return base + "/" + job + "/" + kHeldBy; }

std::string private_name(const std::string& dir) {
  std::string out = dir;
  std::ranges::replace(out, '/', '_');
  return out;
}

Result<> prepare_namespace_base(const std::string& base, bool make) {
  if (make && ::mkdir(base.c_str(), 0755) == 0 && ::chmod(base.c_str(), 0755) < 0) return fail_errno(base);  // whatever our umask
  MUSTER_TRY_VOID(all_roots(base, true));
  MUSTER_TRY(dir, open_directory(base));
  MUSTER_TRY(own, is_mount(dir, base));
  if (!own) MUSTER_TRY_VOID(mounted(::mount(base.c_str(), base.c_str(), nullptr, MS_BIND, nullptr), base));
  return mounted(::mount(nullptr, base.c_str(), nullptr, MS_PRIVATE, nullptr), base);
}

Result<> check_private_dir(const std::string& dir) {
  MUSTER_TRY_VOID(all_roots(dir, false));
  MUSTER_TRY(opened, open_directory(dir));
  return {};
}

Result<> make_job_namespace(const JobNamespaceSpec& spec) {
  MUSTER_TRY(lock, locked_base(spec.base));
  const std::vector<std::string> bases = bases_of(spec);
  MUSTER_TRY_VOID(close_all(bases, spec.job));
  auto made = make_directories(spec);
  if (made) made = hold_all(spec);
  if (!made) [[maybe_unused]]
    auto gone = close_all(bases, spec.job);
  return made;
}

Result<> close_job_namespace(const std::vector<std::string>& bases, const std::string& job) {
  MUSTER_TRY(lock, locked_base(bases.front()));
  return close_all(bases, job);
}

Result<std::vector<JobId>> jobs_with_namespace(const std::string& base) {
  MUSTER_TRY(fd, open_directory(base, O_RDONLY));
  std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd.get()), ::closedir);
  if (!entries) return fail_errno(base);
  static_cast<void>(fd.release());
  std::vector<JobId> out;
  while (const dirent* e = ::readdir(entries.get()))
    if (auto job = parse_number<uint32_t>(e->d_name, 1)) out.emplace_back(*job);
  return out;
}

Result<OpenNamespace> open_job_namespace(const std::string& file) {
  OpenNamespace out;
  MUSTER_TRY(mount, open_space(file));
  out.mount = std::move(mount);
  for (const auto& [end, fd] : {std::pair{kPidEnd, &out.pid}, std::pair{kUserEnd, &out.user}}) {
    auto space = open_space(file + end);
    if (space) *fd = std::move(*space);
    else if (::access((file + end).c_str(), F_OK) == 0) return std::unexpected(space.error());
  }
  return out;
}

Result<Fd> own_namespace() {
  Fd fd(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  return fd ? Result<Fd>(std::move(fd)) : fail_errno("/proc/self/ns/mnt");
}

Result<> enter_job_namespace(const OpenNamespace& space) {
  MUSTER_TRY_VOID(mounted(::setns(space.mount.get(), CLONE_NEWNS), "the job's namespace"));
  if (space.pid) MUSTER_TRY_VOID(mounted(::setns(space.pid.get(), CLONE_NEWPID), "the job's namespace of processes"));
  if (space.user) MUSTER_TRY_VOID(mounted(::setns(space.user.get(), CLONE_NEWUSER), "the job's namespace of users"));
  return {};
}

}  // namespace muster::os
