// slurmd's command line: slurmd(8). Options of features that do not exist here (configless start, dynamic nodes) are refused with a text
// that says so.
#pragma once

#include <optional>
#include <string>

namespace muster::slurmd {

struct Arguments {
  bool report_reboot = false, clear_locks = false, foreground = false, lock_memory = false, change_directory = false;
  bool print_hardware = false, print_gres = false;
  std::string conf_file, log_file, node_name, stepd_path, parameters, extra;
  std::optional<int> nice;
  int verbose = 0;
  int exit_now = -1;  // ≥ 0: the program ends with this code
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace muster::slurmd
