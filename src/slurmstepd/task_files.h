// TaskFiles: the files that tasks of the step read and write, each opened once with the user's rights; and
// pipes and terminals for what flows through srun. Missing parent directories of output files are made.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/step_rpc.h"
#include "os/fd.h"
#include "os/process.h"

namespace muster::slurmstepd {

class TaskFiles {
 public:
  explicit TaskFiles(const step_rpc::StepdLaunch& launch, std::optional<os::Credentials> who)
      : append_(launch.append), umask_(launch.umask), who_(std::move(who)) {}

  // Shared by tasks that name the same file. The descriptor stays ours.
  Result<int> output(const std::string& path);
  Result<int> input(const std::string& path);
  Result<int> null();
  // A line for everybody's stderr: into each file that is used as such.
  void note(const std::string& line) const;
  void used_for_errors(int fd) { error_fds_[fd] = true; }
  void close_all() {
    fds_.clear();
    error_fds_.clear();
  }

 private:
  bool append_;
  uint32_t umask_;
  std::optional<os::Credentials> who_;
  std::map<std::string, os::Fd> fds_;  // "<path" and ">path"
  std::map<int, bool> error_fds_;
};

}  // namespace muster::slurmstepd
