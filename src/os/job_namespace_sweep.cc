// Removes what users left in their private directories, with root's rights and by descriptors alone. A tree is gone through at most
// kDeepest levels down: what lies deeper is moved up first, into the folder of root's in which the whole tree lies.
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "os/error.h"
#include "os/job_namespace.h"
#include "os/namespace_names.h"

namespace muster::os {
namespace {

constexpr int kDeepest = 32;
constexpr int kMostPasses = 64;  // over one folder; processes that nobody can end may go on making files in it

struct Closed {
  void operator()(DIR* d) const { ::closedir(d); }
};
using Entries = std::unique_ptr<DIR, Closed>;

int open_below(int folder, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(::syscall(SYS_openat2, folder, name, &how, sizeof how));
}

// An open folder and its entries.
struct Folder {
  Entries entries;
  int fd() const { return ::dirfd(entries.get()); }
  static std::optional<Folder> open(int above, const char* name) {
    Fd fd(open_below(above, name, O_RDONLY | O_DIRECTORY));
    if (!fd) return std::nullopt;
    Folder out{Entries(::fdopendir(fd.get()))};
    if (!out.entries) return std::nullopt;
    static_cast<void>(fd.release());
    return out;
  }
};

bool is_dots(const char* name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

// Takes immutable and append-only off what `fd` is; nothing else has it by another name unless its link count says so.
bool make_mutable(int fd, bool folder) {
  struct stat st {};
  if (::fstat(fd, &st) < 0 || (!folder && (!S_ISREG(st.st_mode) || st.st_nlink > 1))) return false;
  int flags = 0;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 || !(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))) return false;
  flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
  return ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

class Sweep {
 public:
  explicit Sweep(std::string path) : path_(std::move(path)) {}

  // Removes the folder `name` of `base`, which root alone changes.
  Result<> remove(int base, const char* name) {
    auto top = Folder::open(base, name);
    if (!top) return fail_errno(path_);
    top_ = top->fd();
    empty(*top, 0);
    if (::unlinkat(base, name, AT_REMOVEDIR) == 0) return {};
    return std::unexpected(fault_.value_or(system_error(path_)));
  }

 private:
  // Again and again, since what is removed or moved up while it is read may make the reading pass over something, and since new things come
  // into the topmost folder.
  void empty(Folder& folder, int depth) {
    for (int pass = 0; pass < kMostPasses || depth == 0; ++pass) {
      bool removed = false;
      const uint64_t moved_before = moved_;
      ::rewinddir(folder.entries.get());
      while (const dirent* e = ::readdir(folder.entries.get())) {
        if (is_dots(e->d_name)) continue;
        if (take(folder, e->d_name, depth)) removed = true;
      }
      if (!removed && (depth > 0 || moved_ == moved_before)) return;
    }
  }

  // Whether it is gone from its place.
  bool take(Folder& folder, const char* name, int depth) {
    if (::unlinkat(folder.fd(), name, 0) == 0 || errno == ENOENT) return true;
    if (errno == EISDIR) return take_folder(folder, name, depth);
    if (errno != EPERM) return failed(name);
    // A folder too, where the file system says EPERM of those; and what somebody closed to changes.
    if (make_mutable(folder.fd(), true) && ::unlinkat(folder.fd(), name, 0) == 0) return true;
    struct stat st {};
    if (::fstatat(folder.fd(), name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISDIR(st.st_mode)) return take_folder(folder, name, depth);
      const Fd fd(S_ISREG(st.st_mode) ? open_below(folder.fd(), name, O_RDONLY) : -1);
      if (fd && make_mutable(fd.get(), false) && ::unlinkat(folder.fd(), name, 0) == 0) return true;
    }
    errno = EPERM;
    return failed(name);
  }

  bool take_folder(Folder& folder, const char* name, int depth) {
    if (depth >= kDeepest) return moves_up(folder, name) || failed(name);
    if (::unlinkat(folder.fd(), name, AT_REMOVEDIR) == 0) return true;
    auto inner = Folder::open(folder.fd(), name);
    if (!inner) return errno == ENOENT || failed(name);
    make_mutable(inner->fd(), true);
    empty(*inner, depth + 1);
    inner.reset();
    if (::unlinkat(folder.fd(), name, AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    if (errno == EPERM && make_mutable(folder.fd(), true) && ::unlinkat(folder.fd(), name, AT_REMOVEDIR) == 0) return true;
    return failed(name);
  }

  bool moves_up(Folder& folder, const char* name) {
    for (bool closed = false;;) {
      const std::string up = "." + std::to_string(++moved_);
      if (::renameat(folder.fd(), name, top_, up.c_str()) == 0 || errno == ENOENT) return true;
      if (errno == ENOTEMPTY || errno == EEXIST) continue;  // an earlier sweep was ended
      if (errno != EPERM || std::exchange(closed, true)) return false;
      make_mutable(folder.fd(), true);
      if (auto inner = Folder::open(folder.fd(), name)) make_mutable(inner->fd(), true);
    }
  }

  bool failed(const char* name) {
    if (!fault_) fault_ = system_error(path_ + ": " + name);
    return false;
  }

  std::string path_;
  int top_ = -1;
  uint64_t moved_ = 0;
  std::optional<Error> fault_;
};

}  // namespace

Result<> sweep_job_namespaces(const std::string& base) {
  const Fd fd(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_errno(base);
  Entries entries(::fdopendir(::dup(fd.get())));
  if (!entries) return fail_errno(base);
  Result<> result;
  while (const dirent* e = ::readdir(entries.get())) {
    if (strncmp(e->d_name, kAside, sizeof kAside - 1) != 0) continue;
    const std::string name = e->d_name;
    auto removed = Sweep(base + "/" + name).remove(fd.get(), name.c_str());
    if (!removed && result) result = removed;
  }
  return result;
}

}  // namespace muster::os
