#include "os/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdlib>

#include "os/error.h"

namespace muster::os {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  struct stat st {};
  std::string out;
  size_t have = 0;
  size_t room = 4096;
  if (fstat(fd.get(), &st) == 0 && st.st_size > 0) room = std::min<size_t>(static_cast<size_t>(st.st_size), max_bytes) + 1;
  while (true) {
    if (out.size() < have + room) out.resize(have + room);
    const ssize_t n = read(fd.get(), out.data() + have, out.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
    if (have > max_bytes) return fail(Errc::kIo, path + ": longer than the limit of " + std::to_string(max_bytes) + " bytes");
    room = std::max<size_t>(4096, have);
  }
  out.resize(have);
  return out;
}

Result<std::string> read_line(const std::string& path) {
  MUSTER_TRY(text, read_file(path, 1 << 20));
  if (auto end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

Result<> write_all(int fd, std::string_view data, std::string_view name) {
  while (!data.empty()) {
    const ssize_t n = write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(name);
    data.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<> write_value(const std::string& path, std::string_view value) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  ssize_t n;
  while ((n = write(fd.get(), value.data(), value.size())) < 0 && errno == EINTR) {
  }
  if (n < 0) return fail_errno(path + ": write \"" + std::string(value) + "\"");
  if (static_cast<size_t>(n) != value.size()) return fail(Errc::kIo, path + ": value taken only in part");
  return {};
}

Result<> sync_directory(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  if (fsync(fd.get()) < 0 && errno != EINVAL) return fail_errno("sync " + path);
  return {};
}

Result<> write_file_atomic(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = path + ".new-XXXXXX";
  Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return fail_errno(path);
  auto written = [&]() -> Result<> {
    MUSTER_TRY_VOID(write_all(fd.get(), content, path));
    if (fchmod(fd.get(), mode) < 0) return fail_errno("chmod " + path);
    if (fsync(fd.get()) < 0) return fail_errno("sync " + path);
    if (rename(temporary.c_str(), path.c_str()) < 0) return fail_errno("rename to " + path);
    return {};
  }();
  if (!written) {
    unlink(temporary.c_str());
    return written;
  }
  return sync_directory(parent_of(path));
}

Result<> make_dirs(const std::string& path, mode_t mode) {
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), mode) == 0 || errno == EEXIST) continue;
    const int err = errno;
    // A parent we may not write to (EACCES, EROFS …) is fine when it is already there.
    struct stat st {};
    if (stat(part.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) continue;
    return fail_errno("mkdir " + part, err);
  }
  struct stat st {};
  if (stat(path.c_str(), &st) < 0) return fail_errno(path);
  if (!S_ISDIR(st.st_mode)) return fail_errno("mkdir " + path, ENOTDIR);
  return {};
}

Result<Fd> open_output(const std::string& path, const OpenOutput& how) {
  if (how.make_parents) MUSTER_TRY_VOID(make_dirs(parent_of(path)));
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (how.append ? O_APPEND : O_TRUNC);
  Fd fd;
  // O_EXCL first, to know whether the file is new: only then it gets the job's mode, whatever our umask. Another may win the race.
  for (int attempt = 0; attempt < 3 && !fd; ++attempt) {
    fd.reset(open(path.c_str(), flags | O_CREAT | O_EXCL, how.mode));
    if (fd) {
      if (fchmod(fd.get(), how.mode) < 0) return fail_errno("chmod " + path);
      break;
    }
    if (errno != EEXIST) break;
    fd.reset(open(path.c_str(), flags));
    if (!fd && errno == ENOENT) {
      // A dangling link: O_EXCL refuses it, so let the kernel create what it points to.
      fd.reset(open(path.c_str(), flags | O_CREAT, how.mode));
    }
    if (!fd && errno != ENOENT) break;
  }
  if (!fd) return fail_errno(path, errno == ENXIO ? ENXIO : errno);
  if (fcntl(fd.get(), F_SETFL, how.append ? O_APPEND : 0) < 0) return fail_errno(path);
  return fd;
}

Result<Fd> open_input(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return fail_errno(path);
  if (fcntl(fd.get(), F_SETFL, 0) < 0) return fail_errno(path);
  return fd;
}

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs s {};
  if (statvfs(path.c_str(), &s) < 0) return fail_errno(path);
  return DiskSpace{s.f_blocks * s.f_frsize, s.f_bavail * s.f_frsize};
}

}  // namespace muster::os
