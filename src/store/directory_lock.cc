#include "store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::store {
namespace {

std::unexpected<Error> system_failure(std::string what, int error) {
  return fail(error == ENOSPC || error == EDQUOT ? Errc::kDiskFull : Errc::kStateNotSaved, what + ": " + std::strerror(error));
}

std::string parent_of(const std::string& path) {
  size_t end = path.find_last_not_of('/');
  size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos) return ".";
  size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

// "pid 4711 on host c1", as the holder wrote it. For a message only: the kernel keeps the lock itself.
std::string holder_of(int fd) {
  char text[200];
  ssize_t n = pread(fd, text, sizeof text, 0);
  std::string s(text, n > 0 ? static_cast<size_t>(n) : 0);
  s.resize(std::min(s.size(), s.find('\n')));
  for (char& c : s)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return s.empty() ? "a process that did not say its pid" : s;
}

}  // namespace

Result<> sync_directory(const std::string& directory) {
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_failure("cannot open directory " + directory, errno);
  int rc = fsync(fd);
  int error = errno;
  close(fd);
  // Some file systems cannot sync a directory and do not need to.
  if (rc != 0 && error != EINVAL) return system_failure("cannot sync directory " + directory, error);
  return {};
}

Result<> make_directories(const std::string& directory) {
  if (directory.empty()) return fail(Errc::kInvalidArgument, "the state directory has an empty name");
  struct stat st;
  if (stat(directory.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return {};
    return system_failure("cannot use " + directory + " as state directory", ENOTDIR);
  }
  if (errno != ENOENT) return system_failure("cannot use " + directory + " as state directory", errno);
  std::string parent = parent_of(directory);
  if (parent != directory) MUSTER_TRY_VOID(make_directories(parent));
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_failure("cannot create state directory " + directory, errno);
  return sync_directory(parent);
}

DirectoryLock::DirectoryLock(DirectoryLock&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
DirectoryLock& DirectoryLock::operator=(DirectoryLock&& o) noexcept {
  std::swap(fd_, o.fd_);
  return *this;
}
DirectoryLock::~DirectoryLock() {
  // The file stays: removing it would let two later writers lock two different files.
  if (fd_ >= 0) close(fd_);
}

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  std::string path = directory + "/muster.lock";
  DirectoryLock lock;
  lock.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock.fd_ < 0) return system_failure("cannot open lock file " + path, errno);
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("cannot lock " + path, errno);
    return fail(Errc::kStateNotSaved, "state directory " + directory + " is in use by " + holder_of(lock.fd_),
                "Stop that process first, or give this one a StateSaveLocation of its own.");
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::string text = "pid " + std::to_string(getpid()) + " on host " + host + "\n";
  // The text serves people only, so a full disk here does not keep the controller from starting.
  if (ftruncate(lock.fd_, 0) != 0 || pwrite(lock.fd_, text.data(), text.size(), 0) < 0) return lock;
  return lock;
}

}  // namespace muster::store
