#include "os/pty.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "os/error.h"

namespace muster::os {

Result<Pty> open_pty(std::optional<WindowSize> size, std::optional<Uid> owner, std::optional<Gid> group) {
  Pty pty;
  pty.master.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pty.master) return fail_errno("open pseudo terminal");
  char name[64];
  if (grantpt(pty.master.get()) < 0 || unlockpt(pty.master.get()) < 0 || ptsname_r(pty.master.get(), name, sizeof name) != 0)
    return fail_errno("pseudo terminal");
  pty.name = name;
  pty.slave.reset(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pty.slave) return fail_errno(pty.name);
  if (owner && geteuid() == 0) {
    if (fchown(pty.slave.get(), owner->value, group ? group->value : static_cast<gid_t>(-1)) < 0 || fchmod(pty.slave.get(), 0620) < 0)
      return fail_errno("owner of " + pty.name);
  }
  if (size) MUSTER_TRY_VOID(set_window_size(pty.master.get(), *size));
  return pty;
}

Result<> pass_output_unchanged(const Pty& pty) {
  termios mode{};
  if (tcgetattr(pty.slave.get(), &mode) < 0) return fail_errno("terminal settings");
  mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  if (tcsetattr(pty.slave.get(), TCSANOW, &mode) < 0) return fail_errno("terminal settings");
  return {};
}

Result<WindowSize> window_size(int fd) {
  winsize w{};
  if (ioctl(fd, TIOCGWINSZ, &w) < 0) return fail_errno("window size");
  return WindowSize{w.ws_row, w.ws_col};
}

Result<> set_window_size(int fd, WindowSize size) {
  winsize w{};
  w.ws_row = size.rows;
  w.ws_col = size.columns;
  if (ioctl(fd, TIOCSWINSZ, &w) < 0) return fail_errno("set window size");
  return {};
}

RawMode::RawMode() = default;
RawMode::RawMode(RawMode&& o) noexcept : fd_(o.fd_), saved_(std::move(o.saved_)) {}
RawMode::~RawMode() { leave(); }

Result<RawMode> RawMode::enter(int fd) {
  RawMode mode;
  if (!isatty(fd)) return mode;
  auto saved = std::make_unique<termios>();
  if (tcgetattr(fd, saved.get()) < 0) return fail_errno("terminal settings");
  termios raw = *saved;
  cfmakeraw(&raw);
  if (tcsetattr(fd, TCSANOW, &raw) < 0) return fail_errno("terminal raw mode");
  mode.fd_ = fd;
  mode.saved_ = std::move(saved);
  return mode;
}

void RawMode::leave() {
  if (!saved_) return;
  tcsetattr(fd_, TCSADRAIN, saved_.get());
  saved_.reset();
}

}  // namespace muster::os
