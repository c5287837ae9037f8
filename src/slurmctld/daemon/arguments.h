// The command line of slurmctld(8).
#pragma once

#include <optional>
#include <string>

namespace muster::slurmctld {

struct Arguments {
  bool foreground = false;           // -D
  bool clear_state = false;          // -c
  bool ignore_state_errors = false;  // -i
  bool systemd = false;              // --systemd: foreground, stay as started
  bool chdir_to_log = false;         // -s
  int verbose = 0, quiet = 0;        // -v, -q
  std::optional<int> nice;           // -n
  std::string conf_file, log_file;
  int exit_now = -1;  // >= 0: what was asked for is printed; leave with this code
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace muster::slurmctld
