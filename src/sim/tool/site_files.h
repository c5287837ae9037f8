// A site's files for a replay: slurm.conf and what belongs to it, read as slurmctld reads them, with lines that are changed for an experiment; and its
// accounts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/accounts.h"
#include "sim/replay/trace.h"
#include "slurmctld/core/settings.h"

namespace muster::sim::tool {

struct SiteFiles {
  std::string name;  // as reports call it
  slurmctld::Settings settings;
  rpc::Entities accounts;
  std::vector<std::string> remarks;
};

// `config`: a directory or a slurm.conf. `with`: lines "Key=value" in place of the file's own. `accounts`: a file, or "": the file `accounts` beside
// slurm.conf, or else those of the trace. nullopt: `error` says why.
std::optional<SiteFiles> load_site(const std::string& config, const std::vector<std::string>& with, const std::string& accounts,
                                   const replay::Trace& trace, std::string& error);

// slurm.conf with these lines in place of those that have the same key.
std::string with_lines(const std::string& slurm_conf, const std::vector<std::string>& with);

}  // namespace muster::sim::tool
