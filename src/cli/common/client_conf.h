// The few keys of slurm.conf that a command needs, found by a light scan: node, partition and other record lines are skipped, never parsed,
// so a command starts as fast on 10,000 nodes as on one. The daemons read the whole file with config/ and report its mistakes; here an
// unusable value is an error only where it would send us to a wrong place.
//
// Cost: one read and one pass over the bytes of the file and its Includes (about 1 GB/s for record lines). slurm.conf(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/parser.h"

namespace muster::cli {

struct ControllerHost {
  std::string name;     // SlurmctldHost=name
  std::string address;  // …(address), else the name
};

struct ClientConf {
  std::string path;  // of slurm.conf
  std::string cluster_name;
  std::vector<ControllerHost> controllers;
  uint16_t slurmctld_port = 6817;  // the first of a range
  std::string auth_type;           // never empty: config/auth_type.h says what an absent one means
  std::string auth_socket;         // AuthInfo=socket=
  std::string slurm_user = "root";
  std::string slurmctld_pid_file = "/var/run/slurmctld.pid", slurmd_pid_file = "/var/run/slurmd.pid";
  uint32_t message_timeout_seconds = 10;
  std::string propagate_limits = "ALL", propagate_limits_except;
  std::string launch_parameters, interactive_step_options = "--interactive --preserve-env --pty $SHELL";
  std::string scheduler_parameters;
  uint32_t kill_wait_seconds = 30, wait_seconds = 0;  // KillWait, WaitTime (0: forever)
  bool kill_on_bad_exit = false;
  std::string srun_prolog, srun_epilog;
  std::string plug_stack_config, plugin_dir;  // "": the defaults (cli/common/spank.h)
  std::string bcast_exclude = "/lib,/usr/lib,/lib64,/usr/lib64", bcast_parameters;
  std::pair<uint16_t, uint16_t> srun_ports{0, 0};                     // SrunPortRange; 0: any
  uint32_t tree_width = 16;                                           // TreeWidth: of the tree that files go down
  bool accounting_dbd = false;                                        // AccountingStorageType=accounting_storage/slurmdbd
  std::string accounting_host = "localhost", accounting_backup_host;  // AccountingStorageHost, …BackupHost
  uint16_t accounting_port = 6819;
  bool track_wckey = false, enforces_wckeys = false;      // TrackWCKey; AccountingStorageEnforce=wckeys, which means it, too
  std::string job_completion_type, job_completion_place;  // JobCompType, JobCompLoc
  bool allow_spec_resources = false;                      // AllowSpecResourcesUsage
  bool multifactor = true;                                // PriorityType
  bool scrontab = false;                                  // ScronParameters=enable
  uint32_t inactive_limit_seconds = 0;                    // InactiveLimit; 0: none

  bool tracks_wckeys() const { return track_wckey || enforces_wckeys; }
  bool has_launch_parameter(std::string_view name) const;  // in small letters
  std::string directory() const;                           // of slurm.conf
};

// Reads `path` through `files`. kConfig: no such file, or Includes too deep.
Result<ClientConf> scan_client_conf(config::FileSource& files, const std::string& path);

// The path of slurm.conf: SLURM_CONF, then beside the program, then /etc/slurm, then what slurmd or sackd got from slurmctld. kConfig when there is none: "Could not establish a
// configuration source".
Result<std::string> find_conf_path();
// Finds it and scans it.
Result<ClientConf> find_client_conf();

// -M: only our own cluster can be asked. A list that names another one gives kInvalidClusterName with Slurm's sentence.
Result<> check_clusters(const ClientConf& conf, std::string_view clusters);

}  // namespace muster::cli
