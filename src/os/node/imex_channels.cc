#include "os/node/imex_channels.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr std::string_view kDriver = "nvidia-caps-imex-channels";
constexpr size_t kMostDevices = 1 << 20;  // bytes of /proc/devices

bool is_channel(const struct stat& st, uint32_t major, uint32_t channel) {
  return S_ISCHR(st.st_mode) && st.st_rdev == makedev(major, channel);
}

}  // namespace

// Lines such as "  5 /dev/tty" and "511 nvidia-caps-imex-channels"; block devices, which come after, have no such name.
Result<std::optional<uint32_t>> ImexDevices::driver_number() const {
  MUSTER_TRY(text, read_file(root_ + "/proc/devices", kMostDevices));
  for (std::string_view line : split(text, '\n', false)) {
    line = trim(line);
    const size_t space = line.find(' ');
    if (space != line.npos && trim(line.substr(space)) == kDriver) return parse_number<uint32_t>(line.substr(0, space));
  }
  return std::nullopt;
}

std::string ImexDevices::file(uint32_t channel) const { return folder() + "/channel" + std::to_string(channel); }

Result<> ImexDevices::open_for(uint32_t major, uint32_t channel, Uid uid) const {
  MUSTER_TRY_VOID(make_dirs(folder(), 0755));
  if (::chmod(folder().c_str(), 0755) < 0) return fail_errno(folder());  // whatever our umask is
  const std::string path = file(channel);
  struct stat st {};
  if (::lstat(path.c_str(), &st) == 0 && !is_channel(st, major, channel)) MUSTER_TRY_VOID(remove(channel));
  if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(major, channel)) < 0 && errno != EEXIST) return fail_errno(path);
  // The mode first: one that all may open is the user's only when nobody else can open it any more.
  if (::chmod(path.c_str(), 0600) < 0 || ::lchown(path.c_str(), uid.value, 0) < 0) return fail_errno(path);
  return {};
}

Result<> ImexDevices::remove(uint32_t channel) const {
  const std::string path = file(channel);
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Result<>() : fail_errno(path);
}

}  // namespace muster::os
