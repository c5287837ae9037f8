#include "slurmstepd/receive_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/fd.h"

namespace muster::slurmstepd {
namespace {

struct Order {
  std::string directory, name, temporary;
  uint64_t size = 0;
  mode_t mode = 0600;
  bool force = false, make_directory = false;
  int64_t access_time = -1, change_time = -1;
};

int complain(const std::string& what) {
  std::string line = what + (errno ? ": " + std::string(strerror(errno)) : "") + "\n";
  [[maybe_unused]] ssize_t n = ::write(2, line.data(), line.size());
  return 1;
}

bool parse(int argc, char** argv, Order& order) {
  if (argc != 7) return false;
  std::string path = argv[0];
  size_t slash = path.rfind('/');
  if (path.empty() || path[0] != '/' || slash + 1 == path.size()) return false;
  order.directory = slash == 0 ? "/" : path.substr(0, slash);
  order.name = path.substr(slash + 1);
  auto size = parse_number<uint64_t>(argv[1]);
  auto access_time = parse_number<int64_t>(argv[5]), change_time = parse_number<int64_t>(argv[6]);
  if (!size || !access_time || !change_time || strchr(argv[3], '/')) return false;
  order.size = *size;
  order.mode = static_cast<mode_t>(strtoul(argv[2], nullptr, 8)) & 07777;
  // A number for this process alone, since a folder may be shared by several nodes.
  uint64_t own = 0;
  if (::getrandom(&own, sizeof own, 0) != sizeof own) return false;
  order.temporary = "." + order.name.substr(0, 200) + "." + argv[3] + "." + std::to_string(own);
  order.force = strchr(argv[4], 'f') != nullptr;
  order.make_directory = strchr(argv[4], 'd') != nullptr;
  order.access_time = *access_time;
  order.change_time = *change_time;
  return true;
}

// Root's files go nowhere that somebody else's link points to.
int open_directory(const std::string& path) {
  if (::geteuid() != 0) return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

bool write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = ::write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// Copies from descriptor 0 until its end. False: errno says why, 0 that the bytes ended early.
bool take_bytes(int fd, uint64_t size) {
  std::vector<char> buffer(256u << 10);
  uint64_t got = 0;
  for (;;) {
    ssize_t n = ::read(0, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || (n > 0 && !write_all(fd, buffer.data(), static_cast<size_t>(n)))) return false;
    if (n == 0) break;
    got += static_cast<uint64_t>(n);
  }
  errno = 0;
  return got == size;
}

timespec time_of(int64_t seconds) { return seconds < 0 ? timespec{0, UTIME_NOW} : timespec{seconds, 0}; }

bool finish(int directory, int fd, const Order& o) {
  timespec times[2] = {time_of(o.access_time), time_of(o.change_time)};
  if (::fchmod(fd, o.mode) < 0 || ::futimens(fd, times) < 0) return false;
  return ::renameat2(directory, o.temporary.c_str(), directory, o.name.c_str(), o.force ? 0 : RENAME_NOREPLACE) == 0;
}

}  // namespace

int receive_file(int argc, char** argv) {
  Order order;
  errno = 0;
  if (!parse(argc, argv, order)) return complain("slurmstepd receive: wrong arguments");
  std::string path = (order.directory == "/" ? "" : order.directory) + "/" + order.name;
  if (order.make_directory && ::mkdir(order.directory.c_str(), 0700) < 0 && errno != EEXIST) return complain(order.directory);
  os::Fd directory(open_directory(order.directory));
  if (!directory && errno == ELOOP && ::geteuid() == 0) {
    errno = 0;
    return complain(order.directory + ": root's files are not sent through symbolic links");
  }
  if (!directory) return complain(order.directory);
  struct stat there;
  bool exists = ::fstatat(directory.get(), order.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  errno = exists && S_ISDIR(there.st_mode) ? EISDIR : EEXIST;
  if (exists && (!order.force || S_ISDIR(there.st_mode))) return complain(path);
  os::Fd file(::openat(directory.get(), order.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return complain(path);
  if (take_bytes(file.get(), order.size) && finish(directory.get(), file.get(), order)) return 0;
  int why = errno;
  ::unlinkat(directory.get(), order.temporary.c_str(), 0);
  errno = why;
  return complain(why ? path : path + ": the file ended before it was whole");
}

}  // namespace muster::slurmstepd
