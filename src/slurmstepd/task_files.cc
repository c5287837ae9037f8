#include "slurmstepd/task_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/error.h"
#include "os/files.h"

namespace muster::slurmstepd {

Result<int> TaskFiles::null() {
  os::Fd& fd = fds_["/"];
  if (!fd) fd.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) return os::fail_errno("/dev/null");
  return fd.get();
}

Result<int> TaskFiles::output(const std::string& path) {
  if (path == "/dev/null") return null();
  os::Fd& fd = fds_[">" + path];
  if (fd) return fd.get();
  os::OpenOutput how;
  how.append = append_;
  how.make_parents = true;
  how.mode = 0666 & ~umask_;
  MUSTER_TRY(opened, os::open_output(path, how, who_));
  // Tasks of several nodes may write to one file: each write goes to its end.
  ::fcntl(opened.get(), F_SETFL, ::fcntl(opened.get(), F_GETFL) | O_APPEND);
  fd = std::move(opened);
  return fd.get();
}

Result<int> TaskFiles::input(const std::string& path) {
  if (path == "/dev/null") return null();
  // Not shared: each task reads from the beginning.
  MUSTER_TRY(opened, os::open_input(path, who_));
  os::Fd& fd = fds_["<" + std::to_string(fds_.size()) + path];
  fd = std::move(opened);
  return fd.get();
}

void TaskFiles::note(const std::string& line) const {
  for (const auto& [fd, used] : error_fds_) {
    [[maybe_unused]] auto written = os::write_all(fd, line + "\n");
  }
}

}  // namespace muster::slurmstepd
