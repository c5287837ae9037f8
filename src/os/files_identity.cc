// Acting as a user in one thread; locks, pid files, temporary directories.
#include <fcntl.h>
#include <fts.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::os {

Result<ActAs> ActAs::user(const std::optional<Credentials>& who) {
  ActAs as;
  if (!who) return as;
  if (geteuid() != 0) {
    if (who->uid.value == geteuid()) return as;
    return fail(Errc::kAccessDenied, "files of user " + std::to_string(who->uid.value) + " need root to act for them");
  }
  if (who->uid.value == 0) return as;
  const int number = getgroups(0, nullptr);
  as.old_groups_.resize(number > 0 ? static_cast<size_t>(number) : 0);
  if (number > 0 && getgroups(number, as.old_groups_.data()) < 0) return fail_errno("getgroups");
  // The raw call changes this thread only; glibc's would change all.
  if (syscall(SYS_setgroups, who->groups.size(), who->groups.data()) < 0) return fail_errno("setgroups");
  as.active_ = true;
  as.old_gid_ = static_cast<uint32_t>(setfsgid(who->gid.value));
  as.old_uid_ = static_cast<uint32_t>(setfsuid(who->uid.value));
  // setfsuid reports no failure; ask what it is now.
  if (static_cast<uint32_t>(setfsgid(static_cast<gid_t>(-1))) != who->gid.value ||
      static_cast<uint32_t>(setfsuid(static_cast<uid_t>(-1))) != who->uid.value)
    return fail(Errc::kAccessDenied, "the system refuses to act as user " + std::to_string(who->uid.value));
  return as;
}

ActAs::ActAs(ActAs&& o) noexcept
    : active_(std::exchange(o.active_, false)), old_uid_(o.old_uid_), old_gid_(o.old_gid_), old_groups_(std::move(o.old_groups_)) {}

ActAs::~ActAs() {
  if (!active_) return;
  setfsuid(old_uid_);
  setfsgid(old_gid_);
  const bool groups_back = syscall(SYS_setgroups, old_groups_.size(), old_groups_.data()) == 0;
  // Going on with a user's identity, or with ours where the user's was meant, would be a hole.
  MUSTER_CHECK(groups_back && static_cast<uint32_t>(setfsuid(static_cast<uid_t>(-1))) == old_uid_ &&
               static_cast<uint32_t>(setfsgid(static_cast<gid_t>(-1))) == old_gid_);
}

namespace {

std::optional<pid_t> pid_in(const std::string& path) {
  auto line = read_line(path);
  if (!line) return std::nullopt;
  return parse_number<pid_t>(trim(*line), 1);
}

std::string holder(const std::string& path) {
  auto pid = pid_in(path);
  return pid ? "process " + std::to_string(*pid) : std::string("another process");
}

Result<Fd> open_locked(const std::string& path, bool wait) {
  // A holder that ends removes its file: what we lock must still be what the name means.
  for (int attempt = 0; attempt < 100; ++attempt) {
    Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) return fail_errno(path);
    int r;
    while ((r = flock(fd.get(), LOCK_EX | (wait ? 0 : LOCK_NB))) < 0 && errno == EINTR) {
    }
    if (r < 0) {
      if (errno == EWOULDBLOCK) return fail(Errc::kAccessDenied, path + ": locked by " + holder(path));
      return fail_errno("lock " + path);
    }
    struct stat ours {
    }, named{};
    if (fstat(fd.get(), &ours) == 0 && stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
      return fd;
  }
  return fail(Errc::kIo, path + ": lock file keeps being replaced");
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path, bool wait) {
  FileLock lock;
  MUSTER_TRY(fd, open_locked(path, wait));
  lock.fd_ = std::move(fd);
  return lock;
}

Result<PidFile> PidFile::create(const std::string& path) {
  auto fd = open_locked(path, false);
  if (!fd && fd.error().code == Errc::kAccessDenied && running_pid(path))
    return fail(Errc::kAccessDenied, path + ": already running as " + holder(path));
  if (!fd) return std::unexpected(fd.error());
  PidFile f;
  f.fd_ = std::move(*fd);
  f.path_ = path;
  MUSTER_TRY_VOID(f.write_pid());
  return f;
}

Result<> PidFile::write_pid() {
  owner_ = getpid();
  const std::string text = std::to_string(owner_) + "\n";
  if (ftruncate(fd_.get(), 0) < 0) return fail_errno(path_);
  if (pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return fail_errno(path_);
  return {};
}

PidFile::~PidFile() {
  if (fd_ && owner_ == getpid()) unlink(path_.c_str());
}

std::optional<pid_t> running_pid(const std::string& pid_file) {
  Fd fd(open(pid_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return pid_in(pid_file);
}

Result<TempDir> TempDir::create(std::string_view prefix, const std::string& parent) {
  std::string where = parent;
  if (where.empty()) {
    const char* env = getenv("TMPDIR");
    where = env && *env ? env : "/tmp";
  }
  TempDir dir;
  std::string path = where + "/" + std::string(prefix) + "XXXXXX";
  if (!mkdtemp(path.data())) return fail_errno(path);
  dir.path_ = path;
  return dir;
}

TempDir::~TempDir() {
  if (!path_.empty()) (void)remove_tree(path_);
}

namespace {

// Opens a directory of ours that its owner closed to himself (chmod 000), before it is read. The mode is changed through a descriptor, so
// that a link put in the directory's place is not followed. Root needs no permission bits.
void open_to_ourselves(const FTSENT& e) {
  const struct stat& st = *e.fts_statp;
  if ((st.st_mode & S_IRWXU) == S_IRWXU || st.st_uid != geteuid() || st.st_uid == 0) return;
  const Fd fd(open(e.fts_accpath, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) static_cast<void>(chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), S_IRWXU));  // else reading it says why
}

}  // namespace

Result<> remove_tree(const std::string& path) {
  char* roots[] = {const_cast<char*>(path.c_str()), nullptr};
  std::unique_ptr<FTS, int (*)(FTS*)> tree(fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, nullptr), fts_close);
  if (!tree) return fail_errno(path);
  Result<> result;
  while (FTSENT* e = fts_read(tree.get())) {
    if (e->fts_info == FTS_D) {
      open_to_ourselves(*e);
      continue;
    }
    if (e->fts_info == FTS_NS && e->fts_errno == ENOENT) continue;
    const int err = (e->fts_info == FTS_DP || e->fts_info == FTS_DNR ? rmdir(e->fts_accpath) : unlink(e->fts_accpath)) == 0 ? 0 : errno;
    if (err && err != ENOENT && result) result = fail_errno("remove " + std::string(e->fts_path), err);
  }
  return result;
}

}  // namespace muster::os
