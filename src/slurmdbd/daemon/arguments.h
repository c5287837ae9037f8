// The command line of slurmdbd(8).
#pragma once

#include <optional>
#include <string>

namespace muster::slurmdbd {

struct Arguments {
  bool foreground = false;    // -D
  bool only_version = false;  // -u: the state of the tables
  bool chdir_to_log = false;  // -s
  int verbose = 0;            // -v
  std::optional<int> nice;    // -n
  std::string conf_file;      // -f, as slurmctld has it
  int exit_now = -1;          // >= 0: the command line is dealt with (help, version, an error); exit with this code
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace muster::slurmdbd
