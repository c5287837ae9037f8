// Where slurm.conf is looked for, in order. Pure; the caller tries the files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::config {

// `env_slurm_conf`: the variable SLURM_CONF ("" = not set): if set, the only candidate.
// `executable_dir`: the directory of the running program; its parent is the prefix when it ends in /bin or /sbin.
std::vector<std::string> conf_candidates(std::string_view env_slurm_conf, std::string_view executable_dir);

}  // namespace muster::config
