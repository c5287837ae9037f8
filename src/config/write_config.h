// Writes a configuration as the text of a slurm.conf. Only what differs from the defaults is written; reading it gives the same
// configuration again. scontrol(1) write config. Pure; cost O(keys + nodes).
#pragma once

#include <string>

#include "base/time.h"
#include "config/load.h"

namespace muster::config {

// Without `passwords` a comment stands in place of a key that holds one: for users who may not read the file itself.
std::string write_config(const LoadedConfig& loaded, Time now, bool passwords = true);

}  // namespace muster::config
