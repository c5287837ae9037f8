// Where a daemon without slurm.conf finds slurmctld, and how it proves itself before it has a configuration. slurmd(8) and sackd(8)
// --conf-server, guide configless_slurm: the order of the sources.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/config_download.h"
#include "base/result.h"
#include "net/channel.h"
#include "net/client.h"

namespace muster::agent {

// Reads "HOST[:PORT],HOST…", addresses of IPv6 in brackets; the port is 6817 where none is given. kInvalidArgument names the entry.
Result<std::vector<net::Endpoint>> servers_named(const std::string& text);

// Which controllers are to be asked for the files; none: there is a local slurm.conf, or nothing is known at all. The first of these that
// says something: `named` (--conf-server); `conf_file` (-f), SLURM_CONF and a local file, which are no servers; SLURM_CONF_SERVER; the DNS
// records of _slurmctld._tcp.
Result<std::vector<net::Endpoint>> conf_servers(const std::string& named, const std::string& conf_file);

// How the daemon proves itself before it knows AuthType: by the cluster key where it is (`key_file`, else beside where slurm.conf would be,
// else /etc/slurm/slurm.key), without one by munge. With munge slurmctld has to be root's, or the user slurm's.
struct FirstProof {
  net::Security security;
  std::string key;  // the path of the cluster key; "": munge
};
Result<FirstProof> first_proof(const std::string& conf_file, const std::string& key_file, const std::string& auth_info);

// Fetches the configuration from the first server that answers. Servers that cannot be reached are asked again without end, and `waits` is
// called once with the reason. Errors: what a server answers: kConfiglessDisabled, kAccessDenied, kAuthFailed (another key).
Result<FetchedConfig> fetch_from(const std::vector<net::Endpoint>& servers, const net::Security& security,
                                 const std::function<void(const std::string& why)>& waits);

// Where the link to the files, and sackd's socket, are: RUNTIME_DIRECTORY, else /run/slurm; "" for who is not root and has no such variable.
std::string run_directory();

}  // namespace muster::agent
