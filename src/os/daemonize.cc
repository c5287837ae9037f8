#include "os/daemonize.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

// What the process in front does: wait for the daemon's word and end accordingly. First byte: the exit code.
[[noreturn]] void wait_in_front(Fd status, pid_t middle) {
  while (waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::string said;
  char buffer[4096];
  while (true) {
    const ssize_t n = read(status.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    said.append(buffer, static_cast<size_t>(n));
  }
  if (said.empty()) said = std::string("\1") + "error: the daemon ended before it was ready";
  if (said.size() > 1) (void)write_all(2, said.substr(1) + "\n");
  // _exit: what the program registered to do at its end is the daemon's business.
  _exit(static_cast<unsigned char>(said[0]));
}

}  // namespace

Result<Detached> Detached::begin() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return fail_errno("pipe");
  Fd reading(ends[0]), writing(ends[1]);
  const pid_t middle = fork();
  if (middle < 0) return fail_errno("fork");
  if (middle > 0) {
    writing.reset();
    wait_in_front(std::move(reading), middle);
  }
  setsid();
  const pid_t daemon = fork();
  if (daemon < 0) {
    (void)write_all(writing.get(), std::string("\1") + std::string(system_error("fork").message()));
    _exit(1);
  }
  if (daemon > 0) _exit(0);
  Detached d;
  d.status_ = std::move(writing);
  return d;
}

Result<> stdio_to_null() {
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return fail_errno("/dev/null");
  for (int fd = 0; fd <= 2; ++fd)
    if (dup2(null.get(), fd) < 0) return fail_errno("standard streams to /dev/null");
  if (null.get() <= 2) (void)null.release();
  return {};
}

Result<> Detached::ready(const std::string& directory) {
  if (chdir(directory.c_str()) < 0) return fail_errno("chdir " + directory);
  MUSTER_TRY_VOID(stdio_to_null());
  MUSTER_TRY_VOID(write_all(status_.get(), std::string_view("\0", 1), "status to the waiting command"));
  status_.reset();
  return {};
}

void Detached::failed(std::string_view message, int code) {
  (void)write_all(status_.get(), std::string(1, static_cast<char>(code)) + std::string(message));
  status_.reset();
  _exit(code);
}

}  // namespace muster::os
