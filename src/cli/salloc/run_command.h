// Runs the command inside an allocation: the user's, or a shell. It has the terminal as if salloc were not there; signals that ask salloc
// to end are passed on to it. salloc(1).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/process.h"

namespace muster::cli {

// The user's $SHELL, else the shell of the user database, else /bin/sh.
std::string user_shell();

class ChildCommand {
 public:
  // Blocks the signals that it passes on, so it must be constructed before the allocation is asked for. SIGINT, SIGQUIT and SIGTSTP of the
  // terminal reach the command directly.
  static Result<ChildCommand> start(std::vector<std::string> argv, std::vector<std::string> environment, const std::string& cwd);

  // Waits until the command ends. `revoked_fd` ≥ 0 becomes readable when the allocation is gone; the command then gets `kill_signal`.
  Result<os::ExitStatus> wait(int revoked_fd, int kill_signal);

 private:
  pid_t pid_ = 0;
};

}  // namespace muster::cli
