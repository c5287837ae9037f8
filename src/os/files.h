// Files: reading with a bound, replacing so that a crash leaves the old or the new, job output opened with
// the user's own rights, locks and pid files, temporary directories, free space. Descriptors are
// close-on-exec. Relative paths are relative to the working directory of the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace muster::os {

// The whole file; kIo when it is longer than `max_bytes`. Works on /proc and /sys, whose sizes are not known beforehand.
Result<std::string> read_file(const std::string& path, size_t max_bytes = 64 << 20);
// The first line without its newline; for /proc and /sys values.
Result<std::string> read_line(const std::string& path);
Result<> write_all(int fd, std::string_view data, std::string_view name = "write");
// One write(2) to a file that exists (cgroup and /proc files).
Result<> write_value(const std::string& path, std::string_view value);
// Writes beside `path`, syncs, renames, syncs the directory: after success the content survives a power loss,
// and readers see the old or the new content, never a part.
Result<> write_file_atomic(const std::string& path, std::string_view content, mode_t mode = 0644);
Result<> sync_directory(const std::string& path);

// While it lives, file access of this thread is checked as the user (setfsuid, setfsgid and the raw setgroups are per thread on Linux, so
// no fork is needed and other threads keep their rights; the user cannot signal us meanwhile, since only the file-system identity changes).
// Permissions, quotas, ownership of what is created and NFS root squash are then the user's. Not root: only for ourselves. Cost: 4 system
// calls each way.
class ActAs {
 public:
  static Result<ActAs> user(const std::optional<Credentials>& who);  // nullopt: no change
  ActAs(ActAs&& o) noexcept;
  ActAs& operator=(ActAs&&) = delete;
  ~ActAs();

 private:
  ActAs() = default;
  bool active_ = false;
  uint32_t old_uid_ = 0, old_gid_ = 0;
  std::vector<uint32_t> old_groups_;
};

// mkdir -p: existing directories are fine, new ones get `mode` less the process's umask.
Result<> make_dirs(const std::string& path, mode_t mode = 0777);

struct OpenOutput {
  bool append = false;        // else truncate (--open-mode)
  bool make_parents = false;  // create missing parent directories first
  mode_t mode = 0666;         // for a new file, already masked with the job's umask
};
// Opens an output file; for a process of the user whose file it is (a daemon uses os/errand.h). A FIFO without a reader is an error, not a
// wait.
Result<Fd> open_output(const std::string& path, const OpenOutput& how);
// Opens an input file, likewise; a FIFO without a writer gives end of file.
Result<Fd> open_input(const std::string& path);

// An exclusive lock on a file (created if need be) for as long as the object lives, on this machine. A lock that another process holds is
// kAccessDenied: "PATH: locked by process 812".
class FileLock {
 public:
  static Result<FileLock> take(const std::string& path, bool wait = false);
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

// A daemon's pid file: locked while the daemon lives, so a stale file of a crashed one is no obstacle, and
// removed at the end. "PATH: already running as process 812" when it is held. Take it before detaching: the
// lock follows the fork, then call write_pid() in the process that stays.
class PidFile {
 public:
  static Result<PidFile> create(const std::string& path);
  PidFile(PidFile&&) noexcept = default;
  PidFile& operator=(PidFile&&) = delete;
  ~PidFile();  // removes the file only in the process that wrote it last
  Result<> write_pid();

 private:
  PidFile() = default;
  Fd fd_;
  std::string path_;
  pid_t owner_ = 0;
};
// The pid of the live daemon that holds the file; nullopt = none.
std::optional<pid_t> running_pid(const std::string& pid_file);

// A directory of our own (0700), removed with all its content when the object is destroyed. Links are removed, not followed.
class TempDir {
 public:
  static Result<TempDir> create(std::string_view prefix,
                                const std::string& parent = "");  // "" = $TMPDIR or /tmp
  TempDir(TempDir&& o) noexcept : path_(std::exchange(o.path_, {})) {}
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  TempDir() = default;
  std::string path_;
};
// Removes `path` and everything below it. Absent is fine. It never crosses into another file system's mount point; directories of ours that
// were closed (chmod 000) are opened first.
Result<> remove_tree(const std::string& path);

struct DiskSpace {
  uint64_t total = 0, available = 0;  // bytes; available to non-root
};
Result<DiskSpace> disk_space(const std::string& path);

}  // namespace muster::os
