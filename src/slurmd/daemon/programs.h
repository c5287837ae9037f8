// Programs: prologs and epilogs, those of a job one after the other, each with its time limit, without blocking
// the loop. Several jobs' at once, unless they are to be serial (PrologFlags=Serial). What they print goes to the log at debug level, and into the text of a failure.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/loop.h"
#include "os/fd.h"
#include "os/log.h"

namespace muster::slurmd {

// A program and its arguments; just a path where it takes none.
struct ProgramCall {
  std::string path;
  std::vector<std::string> arguments;
  ProgramCall(std::string p, std::vector<std::string> a = {}) : path(std::move(p)), arguments(std::move(a)) {}
};

class Programs {
 public:
  Programs(net::Loop& loop, os::Log& log) : loop_(loop), log_(log) {}
  // `done` gets "" or what went wrong: "/etc/prolog.sh: exit code 3: disk full".
  void run(std::vector<ProgramCall> programs, std::vector<std::string> environment,
           std::optional<Duration> timeout, std::function<void(std::string error)> done);
  // From SIGCHLD: true if it was one of ours.
  bool reaped(pid_t pid, int raw_status);
  size_t running() const { return running_.size(); }
  void set_serial(bool serial) { serial_ = serial; }

 private:
  struct Job {
    std::vector<ProgramCall> left;  // the next one last
    std::vector<std::string> environment;
    std::optional<Duration> timeout;
    std::function<void(std::string)> done;
    std::string current, output;
    bool timed_out = false;
    os::Fd pipe;
    std::unique_ptr<net::Loop::Watch> watch;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  void next(std::unique_ptr<Job> job);
  void ended(std::unique_ptr<Job> job, const std::string& error);
  static void read_output(Job& job);

  net::Loop& loop_;
  os::Log& log_;
  std::map<pid_t, std::unique_ptr<Job>> running_;
  bool serial_ = false;
  std::deque<std::unique_ptr<Job>> waiting_;  // for the one that runs
};

}  // namespace muster::slurmd
