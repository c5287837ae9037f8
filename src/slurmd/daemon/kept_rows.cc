#include "slurmd/daemon/kept_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/error.h"
#include "os/files.h"

namespace muster::slurmd {

std::string KeptLines::read() const {
  if (::access(path_.c_str(), F_OK) < 0 && errno == ENOENT) return {};
  auto content = os::read_file(path_, largest_);
  if (!content) {
    log_.error("what slurmd kept of jobs is lost: {}", content.error().message());
    return {};
  }
  content->resize(content->rfind('\n') + 1);  // npos + 1 = 0
  return std::move(*content);
}

Result<> KeptLines::replace(std::string_view content) {
  if (content.size() > largest_) return fail(Errc::kIo, path_ + ": what is to be kept is too long to be read again");
  MUSTER_TRY_VOID(os::write_file_atomic(path_, content, 0600));
  fd_.reset();
  size_ = content.size();
  return {};
}

Result<> KeptLines::add(std::string_view line) {
  struct stat st {};
  if (!fd_ || ::fstat(fd_.get(), &st) < 0 || st.st_nlink == 0)  // the spool may have been tidied
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd_) return os::fail_errno(path_);
  MUSTER_TRY_VOID(os::write_all(fd_.get(), line, path_));
  size_ += line.size();
  return {};
}

void KeptLines::tell_skipped(size_t lines) const {
  log_.error("{}: {} {} not as slurmd writes them, and skipped", path_, lines, lines == 1 ? "line is" : "lines are");
}

}  // namespace muster::slurmd
