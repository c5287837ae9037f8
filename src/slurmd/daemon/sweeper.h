// Sweeper: removes directories of the spool that belong to users (of batch scripts, of MPI modules), whatever the user put there and
// however much: a process of the owner empties them, and slurmd only removes what is empty then.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "net/loop.h"
#include "os/launch.h"
#include "os/log.h"

namespace muster::slurmd {

class Sweeper {
 public:
  // `program`: slurmstepd.
  Sweeper(net::Loop& loop, os::Log& log, std::string program) : loop_(loop), log_(log), program_(std::move(program)) {}

  // The directory may be gone already. Nobody uses it any more, and its parent is ours alone. It is moved aside at once, because by the
  // time it is swept its name may be that of the next run's directory.
  void remove(const std::string& path);
  // Called for each child that SIGCHLD reports; true: it was one of ours.
  bool reaped(pid_t pid);

 private:
  struct Sweep {
    std::string path;
    std::unique_ptr<os::Launch> launch;
    std::unique_ptr<net::Loop::Timer> timer;
  };
  void start(const std::string& path);
  void remove_empty(const std::string& path);
  void next();

  net::Loop& loop_;
  os::Log& log_;
  std::string program_;
  std::map<pid_t, Sweep> running_;
  std::deque<std::string> waiting_;
};

}  // namespace muster::slurmd
