// The directory a cluster of `muster up` lives in, its key and ports, and which of its daemons run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "muster/plan.h"

namespace muster::front {

struct Place {
  std::string directory;  // absolute
  std::string conf() const { return directory + "/slurm.conf"; }
  std::string dbd_conf() const { return directory + "/slurmdbd.conf"; }
  std::string log(const std::string& daemon) const;  // "slurmctld", "slurmdbd", or a node
};

// The cluster's directory: --state, else $XDG_STATE_HOME/muster, else ~/.local/state/muster. It is not created. An error when the path is
// too long for sockets in it, which the system limits to 107 bytes.
Result<Place> find_place(const std::string& wanted);

// Writes the directories, the key (kept if there is one), ports, slurm.conf, slurmdbd.conf, gres.conf and env.sh.
Result<> furnish(const Place& place, const Plan& plan);

// The process id of slurmctld; 0 = not running.
int controller_pid(const Place& place);
struct Daemon {
  std::string name;
  int pid = 0;
};
// The daemons that run now, known by the pid files they hold locked; slurmctld and slurmdbd come first.
std::vector<Daemon> running_daemons(const Place& place);

// The directories of our installation's daemons and commands: ../sbin and . of the running program.
std::string sbin_directory();
std::string bin_directory();

}  // namespace muster::front
