// Whom the programs of this site trust, and how they prove themselves: AuthType, the cluster key, the agent sockets of this
// host, SlurmUser. What a connection does with these is in net/channel.h. slurm.conf(5) AuthType, AuthInfo, SlurmUser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "config/slurm_conf.h"
#include "net/channel.h"

namespace muster::site {

// Reads slurm.key beside slurm.conf (`directory`), else /etc/slurm/slurm.key. kAuthFailed: there is none, it cannot be read, or it is
// shorter than 16 bytes; the hint says how to make one. kAccessDenied: others can read it (site/guard.h). Daemons pass the user who may
// own it.
Result<std::string> read_cluster_key(const std::string& directory, std::optional<Uid> slurm_user = std::nullopt);

// The same for a key that is named, before there is a configuration.
Result<std::string> read_cluster_key_at(const std::string& path, std::optional<Uid> slurm_user = std::nullopt);

// What a daemon of this configuration proves itself with; munge trusts slurm_user too.
Result<net::Security> load_security(const config::Config& config, Uid slurm_user);

// The same for slurmdbd, whose configuration is a file of its own.
struct TrustSettings {
  std::string auth_type;     // "auth/munge" or "auth/slurm"
  std::string munge_socket;  // "": munge's default
  std::string directory;     // of the configuration file
};
Result<net::Security> load_security(const TrustSettings& settings, Uid slurm_user);

// The uid of SlurmUser or SlurmdUser; without root, the caller's.
Result<Uid> user_of(const std::string& name);

// Where commands and steps of this host find the daemons' sockets: beside their pid files.
std::string slurmctld_agent_socket(const std::string& slurmctld_pid_file, uint32_t slurmctld_port);
std::string slurmdbd_agent_socket(const std::string& slurmdbd_pid_file, uint32_t dbd_port);
// sackd's sockets that may serve commands whose slurm.conf is this one: beside the folder of the files that sackd fetched, else /run/slurm.
std::vector<std::string> sackd_sockets(const std::string& conf_path);
std::string slurmd_agent_socket(const std::string& slurmd_pid_file, const std::string& node);

}  // namespace muster::site
