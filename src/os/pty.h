// Terminals: the pair behind srun --pty, window sizes, and raw mode on the user's terminal for as long as it
// is needed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "os/fd.h"

struct termios;

namespace muster::os {

struct WindowSize {
  uint16_t rows = 0, columns = 0;
  bool operator==(const WindowSize&) const = default;
};

struct Pty {
  Fd master, slave;  // give the slave to SpawnSpec::controlling_tty and fds 0-2, then close ours
  std::string name;  // "/dev/pts/4"
};
// `owner`: the user the slave belongs to (mode 0620), so that the user's programs may reopen it.
Result<Pty> open_pty(std::optional<WindowSize> size = std::nullopt, std::optional<Uid> owner = std::nullopt,
                     std::optional<Gid> group = std::nullopt);

// What is written to the slave comes out of the master unchanged: no \r before \n (srun --unbuffered).
Result<> pass_output_unchanged(const Pty& pty);

Result<WindowSize> window_size(int fd);
Result<> set_window_size(int fd, WindowSize size);  // the foreground processes get SIGWINCH

// Raw mode on a terminal until the object is destroyed. Where `fd` is no terminal (input from a pipe) it does nothing. A program that ends
// by a signal must let it go out of scope first.
class RawMode {
 public:
  static Result<RawMode> enter(int fd);
  RawMode(RawMode&&) noexcept;
  RawMode& operator=(RawMode&&) = delete;
  ~RawMode();
  bool active() const { return saved_ != nullptr; }
  void leave();  // early; entering again is a new object

 private:
  RawMode();
  int fd_ = -1;
  std::unique_ptr<termios> saved_;
};

}  // namespace muster::os
