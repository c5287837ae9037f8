// What stands behind pam_slurm_adopt.so in a file of /etc/pam.d, as the pam_slurm_adopt guide has it. Pure.
//
// A value that an option does not have counts as "deny" where that is one, so that a slip of the pen opens nothing; a word that no option
// is called changes nothing. Both are faults, which the module writes to the log.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::pam {

enum class Action : uint8_t { kIgnore, kAllow, kDeny, kNewest };

struct Options {
  Action no_jobs = Action::kDeny;            // ignore, deny
  Action unknown = Action::kNewest;          // newest, allow, deny
  Action adopt_failure = Action::kAllow;     // allow, deny
  Action generic_failure = Action::kIgnore;  // ignore, allow, deny
  int log_level = 3;                         // as SlurmdDebug: 0 quiet … 9 debug5; what is told has 2 (error), 3 (info) or 5 (debug)
  bool join_container = true;                // goes into the namespace of the job
  std::string nodename;                      // "": as `hostname -s` says
  std::string service = "sshd";              // "*": any
  std::string socket;                        // of slurmd, where slurm.conf does not say it; ours
  std::vector<std::string> faults;           // for the log
};
Options parse_options(std::span<const char* const> arguments);

// The socket of the slurmd of `node` on `host`, from the text of slurm.conf ("" where there is none): it is in the folder of SlurmdPidFile.
// Included files are not looked into: there, `socket` has to be given.
std::string socket_in(std::string_view slurm_conf, const std::string& node, const std::string& host);

}  // namespace muster::pam
