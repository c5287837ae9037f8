#include "site/trust.h"

#include <unistd.h>

#include <cstdlib>

#include "net/bounded_calls.h"
#include "os/files.h"
#include "os/users.h"
#include "site/conf_files.h"
#include "site/guard.h"

namespace muster::site {

namespace {
constexpr size_t kMinKeyBytes = 16, kMaxKeyBytes = 1 << 16;
}

Result<std::string> read_cluster_key_at(const std::string& path, std::optional<Uid> slurm_user) {
  MUSTER_TRY_VOID(check_secret(path, "the cluster key", slurm_user));
  MUSTER_TRY(key, os::read_file(path, kMaxKeyBytes));
  if (key.size() < kMinKeyBytes) return fail(Errc::kAuthFailed, path + ": a cluster key has at least 16 bytes");
  return key;
}

Result<std::string> read_cluster_key(const std::string& directory, std::optional<Uid> slurm_user) {
  for (const std::string& path : {directory + "/slurm.key", std::string("/etc/slurm/slurm.key")})
    if (::access(path.c_str(), F_OK) == 0) return read_cluster_key_at(path, slurm_user);
  const std::string path = directory + "/slurm.key";
  return fail(Errc::kAuthFailed, "AuthType=auth/slurm needs the cluster key in " + path,
              "make one with: dd if=/dev/urandom of=" + path + " bs=1024 count=1; chmod 600 " + path);
}

Result<net::Security> load_security(const config::Config& c, Uid slurm_user) {
  return load_security(TrustSettings{c.auth_type, std::string(c.auth_info.get("socket").value_or("")), c.directory}, slurm_user);
}

Result<net::Security> load_security(const TrustSettings& settings, Uid slurm_user) {
  net::Security s;
  s.trusted_uids.push_back(slurm_user.value);
  if (settings.auth_type == "auth/munge") {
    s.kind = net::Security::Kind::kMunge;
    s.munge_socket = settings.munge_socket;
    s.calls = std::make_shared<net::BoundedCalls>();
    return s;
  }
  MUSTER_TRY(key, read_cluster_key(settings.directory, slurm_user));
  s.key = std::move(key);
  return s;
}

Result<Uid> user_of(const std::string& name) {
  if (::geteuid() != 0) return Uid(::geteuid());
  return os::find_uid(name);
}

std::string slurmctld_agent_socket(const std::string& slurmctld_pid_file, uint32_t slurmctld_port) {
  return directory_of(slurmctld_pid_file) + "/slurmctld." + std::to_string(slurmctld_port) + ".sock";
}

std::string slurmdbd_agent_socket(const std::string& slurmdbd_pid_file, uint32_t dbd_port) {
  return directory_of(slurmdbd_pid_file) + "/slurmdbd." + std::to_string(dbd_port) + ".sock";
}

std::vector<std::string> sackd_sockets(const std::string& conf_path) {
  const std::string folder = directory_of(conf_path);
  if (folder.ends_with("/conf")) return {directory_of(folder) + "/sack.socket"};
  // The configuration of another cluster, which SLURM_CONF names, must not lead to this host's own.
  const char* named = std::getenv("SLURM_CONF");
  const bool own = !named || !*named || folder == "/etc/slurm";
  return own ? std::vector<std::string>{"/run/slurm/sack.socket"} : std::vector<std::string>{};
}

std::string slurmd_agent_socket(const std::string& slurmd_pid_file, const std::string& node) {
  return directory_of(slurmd_pid_file) + "/slurmd." + node + ".sock";
}

}  // namespace muster::site
