// What a slurmd is before it runs: its configuration, which node of it, what the machine has, its key, where its files are.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/load.h"
#include "net/channel.h"
#include "os/log.h"
#include "os/node/cgroups.h"
#include "os/node/hardware.h"
#include "os/node/step_scope.h"
#include "slurmd/core/environment.h"
#include "slurmd/daemon/arguments.h"

namespace muster::slurmd {

struct Setup {
  std::shared_ptr<const config::LoadedConfig> loaded;
  uint32_t node_index = 0;
  std::string node, host, spool, pid_file, log_file;
  std::string stepd, stepd_with_plugins;  // the programs
  std::string program_directory;          // our own
  net::Security security;
  bool by_token = false;  // there is no cluster key here, but a certificate
  Uid slurm_user{}, slurmd_user{};
  NodeHardware hardware;      // what is registered
  os::CpuMap cpus;            // from the model's CPU numbers to the machine's
  bool cpus_are_real = true;  // false: more is configured than the machine has; nothing is bound
  NodeContext context;
  std::optional<os::CgroupOptions> groups;    // where the groups of jobs are, by cgroup_setup.h; none: there are no groups
  std::optional<os::StepScope> scope;         // the scope that they are in, where systemd made one
  config::OptionList parameters;              // SlurmdParameters and --parameters
  std::vector<std::string> prologs, epilogs;  // expanded, in the order they run
  // NamespaceType, with the names of this node put in; none: jobs have the node's own directories.
  std::optional<config::JobNamespace> job_namespace;
  std::vector<std::string> notes;
  bool asks_nvml = false;  // AutoDetect found the GPUs through NVIDIA's library

  const config::Config& config() const { return loaded->config; }
  const config::NodeConfig& node_config() const { return loaded->config.nodes[node_index]; }
  std::string agent_socket() const;                                   // where steps and commands of this host find us
  std::string gpu_samples() const { return spool + "/gpu_samples"; }  // os/node/gpu_samples.h
  std::string controller_agent() const;                               // slurmctld's agent socket, if it is on this host
};

// Errors: everything that is wrong with the files (kConfig…), a node that is not in them, a key that is missing.
Result<Setup> load_setup(const Arguments& arguments);
// Where the log goes, and the levels that slurm.conf and -v ask for.
os::LogOptions log_options(const Setup& setup, const Arguments& arguments);
int print_hardware(const Arguments& arguments);  // slurmd -C

}  // namespace muster::slurmd
