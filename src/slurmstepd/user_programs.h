// UserPrograms: programs that slurmstepd runs beside the tasks, as the user, and whose output it takes: task prologs and epilogs, the login
// shell. They run in the loop, each with a time limit; nothing waits for what a program left running with its output open.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/loop.h"
#include "os/launch.h"

namespace muster::slurmstepd {

class UserPrograms {
 public:
  explicit UserPrograms(net::Loop& loop) : loop_(loop) {}

  struct Outcome {
    os::ExitStatus status;
    std::string output;  // stdout and stderr together, its first megabyte
    bool timed_out = false;
    std::optional<Error> not_started;
    bool ok() const { return !not_started && !timed_out && status.ok(); }
  };
  struct Patience {
    Duration program;                     // then its process group is killed
    std::optional<Duration> left_behind;  // after its end, what is left of its group is killed; nullopt: is left alone
  };
  // `done` is called once, from the loop. The program gets a process group of its own and no input.
  void run(os::SpawnSpec spec, Patience patience, std::function<void(Outcome)> done);
  // Called for each child that SIGCHLD reports; true: it was one of ours.
  bool reaped(pid_t pid, int raw_status);
  void end_all();  // now
  bool any() const { return !running_.empty(); }
  std::vector<pid_t> groups() const;
  std::function<void()> on_idle;  // after the last one's `done`

 private:
  struct Program {
    std::optional<os::Launch> launch;
    pid_t pid = 0;
    Patience patience;
    std::function<void(Outcome)> done;
    Outcome outcome;
    bool ended = false;
    os::Fd reading;
    std::unique_ptr<net::Loop::Watch> watch;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  Result<> start(Program& program, os::SpawnSpec spec);
  void look_after(Program* program, Duration since_its_end);
  void finish(Program* program);
  static bool read_some(Program& program);

  net::Loop& loop_;
  std::list<std::unique_ptr<Program>> running_;
};

}  // namespace muster::slurmstepd
