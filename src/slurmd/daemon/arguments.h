// slurmd's command line: slurmd(8). Options of features that do not exist here are refused with a text that says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/membership.h"
#include "model/join_rpc.h"

namespace muster::slurmd {

// Of a slurmd whose configuration comes from slurmctld (configless.h).
struct Configless {
  std::string folder, key, version;  // of the files; the path of the cluster key, "" with munge
};

struct Arguments {
  bool report_reboot = false, clear_locks = false, foreground = false, lock_memory = false, change_directory = false;
  bool print_hardware = false, print_gres = false;
  std::string conf_file, log_file, node_name, stepd_path, parameters, extra;
  std::string conf_server, auth_info;  // --conf-server, --authinfo
  std::string token_file;              // --token-file
  std::optional<rpc::JoinAs> join;     // -Z, -F: slurmctld is asked which node this is
  std::vector<rpc::KeyValue> conf;     // --conf
  std::string feature;                 // of -F
  std::optional<int> nice;
  int verbose = 0;
  int exit_now = -1;  // ≥ 0: the program ends with this code
  // With -Z and -F, what join_cluster() was told; node_name is the node's then.
  std::string node_line;                          // the node's line, where slurm.conf has none
  bool detect_gpus = false;                       // although gres.conf asks for no AutoDetect
  std::vector<std::string> notes;                 // for the log
  std::optional<Configless> configless;           // what fetch_configuration() found
  std::shared_ptr<agent::Membership> membership;  // what join_by_token() got; with the key one that has no certificate yet; null with munge
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace muster::slurmd
