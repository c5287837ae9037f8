// TriggerPrograms: runs the programs of triggers, each as the user who set the trigger. What the user named (the program) is looked up,
// opened and run by a process that is that user already, for good, and nobody here waits for it: a file server of the user's that does not
// answer holds up one process (os/launch.h). A program has five minutes, then it and what it started are killed. At most kAtOnce run, kOfUser
// of one user; the others wait their turn. Lives on the I/O thread. strigger(1), docs/security.md.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "net/loop.h"
#include "net/pace.h"
#include "os/launch.h"
#include "os/log.h"
#include "site/known_users.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class TriggerPrograms {
 public:
  static constexpr Duration kTime = minutes(5);
  static constexpr size_t kAtOnce = 64, kOfUser = 8;
  // `started` is called when a trigger's program runs or cannot be started.
  TriggerPrograms(net::Loop& loop, os::Log& log, std::string cluster, std::function<void(uint32_t trigger)> started);
  ~TriggerPrograms();
  void run(const Trigger& trigger);
  bool reaped(pid_t pid);  // called on SIGCHLD: whether the process was one of ours

 private:
  struct Run {
    Trigger trigger;
    std::optional<os::Launch> launch;
    std::unique_ptr<net::Loop::Watch> settling;
    std::unique_ptr<net::Loop::Timer> timer;
    pid_t pid = 0;
  };
  void start_waiting();
  void start(Trigger trigger);
  void settled(const std::shared_ptr<Run>& run);
  void over(const Trigger& trigger, const std::string& error);
  void kill(const Run& run);

  net::Loop& loop_;
  os::Log& log_;
  std::string cluster_;
  std::function<void(uint32_t)> started_;
  site::KnownUsers users_;
  std::deque<Trigger> waiting_;
  std::set<uint32_t> asked_;    // wait, or wait for the word of the user database
  std::map<Uid, size_t> busy_;  // how many run, or are about to, by user
  size_t all_busy_ = 0;
  std::map<pid_t, std::shared_ptr<Run>> running_;
  net::Pace told_{minutes(1)};
};

}  // namespace muster::slurmctld
