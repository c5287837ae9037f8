// Programs: runs prologs and epilogs of slurmd and slurmctld without blocking the loop, those of a job one after the other, each with
// its time limit. Several jobs' programs run at once, but no more than kMostAtOnce, or one (PrologFlags=Serial); the others wait. A
// program also waits when the machine has no process or descriptor to spare: that is not its failure. Output goes to the log at debug
// level, and into the text of a failure.
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

namespace muster::site {

// A program and its arguments; just a path where it takes none.
struct ProgramCall {
  std::string path;
  std::vector<std::string> arguments;
  ProgramCall(std::string p, std::vector<std::string> a = {}) : path(std::move(p)), arguments(std::move(a)) {}
};

// The variables of this process, as NAME=VALUE.
std::vector<std::string> own_environment();
// Expands patterns such as /etc/slurm/prolog.d/* : all files that match, in reverse order of their names.
std::vector<std::string> expand_programs(const std::vector<std::string>& patterns);

class Programs {
 public:
  Programs(net::Loop& loop, os::Log& log) : loop_(loop), log_(log) {}
  using Run = uint64_t;
  // `done` gets "", or what went wrong: "/etc/prolog.sh: exit code 3: disk full". `groups`: lists of processes of control groups, which
  // they are in from their start.
  Run run(std::vector<ProgramCall> programs, std::vector<std::string> environment, std::optional<Duration> timeout,
          std::function<void(std::string error)> done, std::vector<os::Fd> groups = {});
  // One program, whose output `done` gets too, at most kOutputKept of it.
  Run run_and_read(ProgramCall program, std::vector<std::string> environment, std::optional<Duration> timeout,
                   std::function<void(std::string error, std::string output)> done);
  static constexpr size_t kOutputKept = 4096;
  // Kills the run; its `done` is not called. Does nothing if it is over.
  void abandon(Run run);
  // Called on SIGCHLD: returns true if the process was one of ours.
  bool reaped(pid_t pid, int raw_status);
  // The same for those of ours that have ended, and no other process: where other threads wait for children of their own.
  void reap_ours();
  size_t running() const { return running_.size(); }
  static constexpr size_t kMostAtOnce = 256;
  void set_most(size_t most) { most_ = most; }
  void set_serial(bool serial) { set_most(serial ? 1 : kMostAtOnce); }
  // From now on, programs get SIGKILL when the thread that starts them ends.
  void set_bound_to_us() { bound_to_us_ = true; }

 private:
  struct Job {
    Run number = 0;
    std::vector<ProgramCall> left;  // the next one last
    std::vector<std::string> environment;
    std::optional<Duration> timeout;
    std::function<void(std::string)> done;
    std::function<void(std::string, std::string)> read;  // in its place
    std::vector<os::Fd> groups;
    // What it says: all of it, or, where its output is read, what it complains of, apart from that.
    struct Words {
      std::string text;
      os::Fd pipe;
      std::unique_ptr<net::Loop::Watch> watch;
    };
    std::string current;
    bool timed_out = false;
    Words said, printed;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  Run queue(std::unique_ptr<Job> job);
  void start_waiting();
  void next(std::unique_ptr<Job> job);
  Result<pid_t> spawn(Job& job, const ProgramCall& call);
  void try_later(std::unique_ptr<Job> job, const Error& why);
  void ended(std::unique_ptr<Job> job, const std::string& error);
  Result<os::Fd> open(Job::Words& words);
  static void read_output(Job::Words& words);

  net::Loop& loop_;
  os::Log& log_;
  std::map<pid_t, std::unique_ptr<Job>> running_;
  size_t most_ = kMostAtOnce;
  bool bound_to_us_ = false;
  bool starting_ = false, short_ = false;  // in start_waiting; waiting for the machine
  Run last_ = 0;
  std::deque<std::unique_ptr<Job>> waiting_;  // for those that run, or for the machine
  std::unique_ptr<net::Loop::Timer> retry_;
};

}  // namespace muster::site
