#include "os/job_namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/namespace_names.h"

namespace muster::os {
namespace {

constexpr long kNsfs = 0x6e736673;
constexpr const char kSharedMemory[] = "/dev/shm";

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
  Fd source, target;
};

Result<std::vector<Private>> open_all(const JobNamespaceSpec& spec) {
  std::vector<Private> out;
  for (const std::string& dir : spec.dirs) {
    Private& p = out.emplace_back();
    p.dir = dir;
    MUSTER_TRY(target, open_directory(dir));
    p.target = std::move(target);
    if (dir == kSharedMemory) continue;
    MUSTER_TRY(source, open_directory(spec.base + "/" + spec.job + "/" + private_name(dir)));
    p.source = std::move(source);
  }
  return out;
}

Result<> put_in_place(const JobNamespaceSpec& spec) {
  // In the new namespace nothing may be passed on to the node's.
  const unsigned long how = spec.shared ? MS_SLAVE : MS_PRIVATE;
  MUSTER_TRY_VOID(mounted(::mount(nullptr, "/", nullptr, MS_REC | how, nullptr), "the job's mounts"));
  MUSTER_TRY(all, open_all(spec));  // before one of them hides another's source
  const std::string owner = "mode=0700,uid=" + std::to_string(spec.uid.value);
  for (const Private& p : all) {
    const std::string at = by_number(p.target);
    const int done = p.source ? ::mount(by_number(p.source).c_str(), at.c_str(), nullptr, MS_BIND, nullptr)
                              : ::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, owner.c_str());
    MUSTER_TRY_VOID(mounted(done, p.dir));
  }
  return {};
}

// Tells through `words` what went wrong, or one zero; then lives until `words` is closed at the other end.
[[noreturn]] void be_the_namespace(const JobNamespaceSpec& spec, int words) {
  auto ready = mounted(::unshare(CLONE_NEWNS), "a mount namespace");
  if (ready) ready = put_in_place(spec);
  const std::string say = ready ? std::string(1, '\0') : std::string(ready.error().message());
  if (::write(words, say.data(), say.size()) < 0) ::_exit(1);
  char go;
  [[maybe_unused]] const ssize_t n = ::read(words, &go, 1);
  ::_exit(0);
}

// ---- around it
struct Maker {
  pid_t pid = 0;
  Fd words;
  ~Maker() {
    words.reset();
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
};

Result<> begin(const JobNamespaceSpec& spec, Maker& maker) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return fail_errno("socketpair");
  maker.words.reset(ends[0]);
  Fd theirs(ends[1]);
  maker.pid = ::fork();
  if (maker.pid < 0) return fail_errno("fork");
  if (maker.pid == 0) {
    maker.words.reset();
    be_the_namespace(spec, theirs.get());
  }
  theirs.reset();
  char said[1024];
  const ssize_t n = ::read(maker.words.get(), said, sizeof said);
  if (n == 1 && said[0] == 0) return {};
  return fail(n > 0 ? std::string(said, static_cast<size_t>(n)) : "the process that makes the namespace died");
}

Result<> make_directories(const JobNamespaceSpec& spec, const Fd& base) {
  const std::string path = spec.base + "/" + spec.job;
  if (::mkdirat(base.get(), spec.job.c_str(), 0700) < 0) return fail_errno(path);
  MUSTER_TRY(job, open_directory(path));
  for (const std::string& dir : spec.dirs) {
    if (dir == kSharedMemory) continue;
    const std::string name = private_name(dir);
    if (::mkdirat(job.get(), name.c_str(), 0700) < 0 ||
        ::fchownat(job.get(), name.c_str(), spec.uid.value, static_cast<gid_t>(-1), AT_SYMLINK_NOFOLLOW) < 0)
      return fail_errno(path + "/" + name);
  }
  const Fd file(::openat(job.get(), kHeldBy, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400));
  return file ? Result<>() : fail_errno(namespace_file(spec.base, spec.job));
}

Result<> hold(const JobNamespaceSpec& spec) {
  Maker maker;
  MUSTER_TRY_VOID(begin(spec, maker));
  const std::string from = "/proc/" + std::to_string(maker.pid) + "/ns/mnt", to = namespace_file(spec.base, spec.job);
  return mounted(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr), to);
}

Result<> put_aside(const Fd& base, const std::string& path, const std::string& job) {
  const std::string held = namespace_file(path, job);
  if (::umount2(held.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT) return fail_errno(held);
  const std::string aside =
      std::string(kAside) + job + "." + std::to_string(monotonic_now().time_since_epoch().count()) + "." + std::to_string(::getpid());
  if (::renameat(base.get(), job.c_str(), base.get(), aside.c_str()) < 0 && errno != ENOENT) return fail_errno(path + "/" + job);
  return {};
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
  MUSTER_TRY(base, locked_base(spec.base));
  MUSTER_TRY_VOID(put_aside(base, spec.base, spec.job));
  auto made = make_directories(spec, base);
  if (made) made = hold(spec);
  if (!made) [[maybe_unused]]
    auto gone = put_aside(base, spec.base, spec.job);
  return made;
}

Result<> close_job_namespace(const std::string& base, const std::string& job) {
  MUSTER_TRY(dir, locked_base(base));
  return put_aside(dir, base, job);
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

Result<Fd> open_job_namespace(const std::string& file) {
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return fail_errno(file);
  struct statfs fs {};
  if (::fstatfs(fd.get(), &fs) < 0 || fs.f_type != kNsfs)
    return fail(Errc::kNotFound, file + ": the job's namespace is not there any more");
  return fd;
}

Result<Fd> own_namespace() {
  Fd fd(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  return fd ? Result<Fd>(std::move(fd)) : fail_errno("/proc/self/ns/mnt");
}

Result<> enter_job_namespace(const Fd& space) { return mounted(::setns(space.get(), CLONE_NEWNS), "the job's namespace"); }

}  // namespace muster::os
