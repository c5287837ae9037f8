#include "config/conf_path.h"

namespace muster::config {

std::vector<std::string> conf_candidates(std::string_view env_slurm_conf, std::string_view executable_dir) {
  if (!env_slurm_conf.empty()) return {std::string(env_slurm_conf)};
  std::vector<std::string> out;
  while (executable_dir.size() > 1 && executable_dir.ends_with('/')) executable_dir.remove_suffix(1);
  for (std::string_view leaf : {"/sbin", "/bin"}) {
    if (!executable_dir.ends_with(leaf)) continue;
    std::string prefix(executable_dir.substr(0, executable_dir.size() - leaf.size()));
    out.push_back(prefix + "/etc/slurm.conf");
    if (prefix != "/usr" && !prefix.empty()) out.push_back(prefix + "/etc/slurm/slurm.conf");
    break;
  }
  if (out.empty() || out.back() != "/etc/slurm/slurm.conf") out.push_back("/etc/slurm/slurm.conf");
  return out;
}

}  // namespace muster::config
