// muster check-config: checks the configuration files of a directory as the daemons do and reports every finding. What stops a daemon is an
// error; what a daemon would only log is a warning. The texts are those of config/, so the daemons say the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/parser.h"
#include "muster/finding.h"

namespace muster::front {

struct ConfigCheck {
  std::vector<Finding> findings;
  std::vector<std::string> files;  // the files that exist, in the order read
};
// `path` is that of slurm.conf, whose neighbouring files are checked with it, or that of slurmdbd.conf alone.
ConfigCheck check_files(config::FileSource& source, const std::string& path);

// The verb, with DIR or FILE; without one it checks the configuration that commands use. The exit code is 1 with an error, else 0. With
// --strict a warning gives 1, too, for sites that keep their files in a repository and want no slip in them.
int check_config_verb(std::span<const std::string> arguments);

}  // namespace muster::front
