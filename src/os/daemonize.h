// Going to the background so that the shell, systemd (Type=forking) and scripts can trust it: the command that was typed returns 0 only
// when the daemon says it is ready, and otherwise prints the daemon's error and returns 1.
//
//   auto background = Detached::begin();      // returns in the daemon only; before any thread is started
//   … read the configuration, bind sockets …  // errors: background->failed("…"), which ends the process
//   background->ready();
//
// The daemon is the same program image, not a new one: its command line stays as typed (pgrep -f 'slurmd -N n1').
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace muster::os {

class Detached {
 public:
  // Forks twice, so that the daemon has a session of its own and is not its leader. stderr stays the caller's until ready().
  static Result<Detached> begin();
  // stdin, stdout and stderr become /dev/null, the working directory becomes `directory`, the waiting command returns 0.
  Result<> ready(const std::string& directory = "/");
  // The waiting command prints `message` and returns `code`; this process ends with the same code.
  [[noreturn]] void failed(std::string_view message, int code = 1);

 private:
  Fd status_;  // closed without a word (a crash): the command says that the daemon ended
};

Result<> stdio_to_null();

}  // namespace muster::os
