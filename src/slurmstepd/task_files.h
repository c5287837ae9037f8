// TaskFiles: the files that tasks of the step read and write, each opened once, with its missing parent directories, by an Errand of the
// user; and what slurmstepd itself has to say in them, which such errands write. A file that takes nothing (a FIFO that nobody reads, a
// file server that is away) delays only those who wait for `when_quiet`, and them not for long.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "os/fd.h"
#include "slurmstepd/errands.h"

namespace muster::slurmstepd {

class TaskFiles {
 public:
  TaskFiles(Errands& openings, Errands& writings, const step_rpc::StepdLaunch& launch)
      : openings_(openings), writings_(writings), append_(launch.append), umask_(launch.umask) {}

  // Opens all files that the tasks name, then calls `done`; at once where they name none. output() and input() tell what went wrong.
  void open(const std::vector<step_rpc::TaskLaunch>& tasks, std::function<void()> done);
  // The file's descriptor, which tasks that name the same file share and which stays ours.
  Result<int> output(const std::string& path);
  Result<int> input(const step_rpc::TaskLaunch& task);
  Result<int> null();

  // Writes a line to everybody's stderr: into each file that is used as such.
  void note(const std::string& line);
  void used_for_errors(int fd) { error_fds_.insert(fd); }
  // Of the text that waits for a file, at most kMostUnwritten is kept.
  void write(int fd, const std::string& text);
  bool quiet() const { return writing_.empty(); }
  void when_quiet(std::function<void()> f);  // called from the loop, at once where nothing is being written
  void close_all();

 private:
  void write_on(int fd);
  void now_quiet();

  Errands &openings_, &writings_;
  bool append_;
  uint32_t umask_;
  std::map<std::string, Result<os::Fd>> fds_;  // ">path", "<rank"; "/": /dev/null
  std::set<int> error_fds_, given_up_;
  std::map<int, std::string> writing_;  // by file: what the next errand will write
  std::vector<std::function<void()>> waiting_;
};

}  // namespace muster::slurmstepd
