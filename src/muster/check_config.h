// muster check-config: the configuration files of a directory, looked at as the daemons look at them, with
// every finding told: what stops a daemon is an error, what it would only log a warning. The texts are those
// of config/, so the daemons say the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/parser.h"
#include "muster/finding.h"

namespace muster::front {

struct ConfigCheck {
  std::vector<Finding> findings;
  std::vector<std::string> files;  // those that were there, in the order read
};
// `path` of slurm.conf, or of slurmdbd.conf alone. Files beside it are taken in.
ConfigCheck check_files(config::FileSource& source, const std::string& path);

// The verb. DIR or FILE; without one the configuration that commands use. 0, or 1 with an error; with --strict 1 with a
// warning, too, for those who keep their files in a repository and want no slip in them.
int check_config_verb(std::span<const std::string> arguments);

}  // namespace muster::front
