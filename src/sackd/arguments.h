// sackd's command line and variables: sackd(8). The command line counts before a variable.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace muster::sackd {

struct Arguments {
  bool foreground = false;        // -D, --systemd
  bool disable_reconfig = false;  // fetch once, follow no changes
  std::string conf_server, conf_file, key_file, token_file;
  int verbose = 0;
  std::optional<int> debug, stderr_debug, syslog_debug;  // SACKD_DEBUG …: levels of the log
  std::vector<std::string> notes;                        // for the log
  int exit_now = -1;                                     // ≥ 0: the program ends with this code
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace muster::sackd
