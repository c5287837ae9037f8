// Everything the daemons read at start and at reconfigure, in one call: slurm.conf with the files it includes, and beside it gres.conf,
// topology.conf, resources.yaml, cgroup.conf, mpi.conf, acct_gather.conf, helpers.conf, job_container.conf, namespace.yaml and the files of features that Muster does not have yet. All or
// nothing: with any error the whole configuration is refused, and all the errors (up to 100) are reported together. Cost: O(bytes + nodes); 16,384 nodes load in well under
// 100 ms.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/cgroup_conf.h"
#include "config/gres_conf.h"
#include "config/helpers_conf.h"
#include "config/job_namespace.h"
#include "config/parser.h"
#include "config/slurm_conf.h"
#include "config/topology_conf.h"
#include "model/hres.h"

namespace muster::config {

struct LoadedConfig {
  Config config;
  GresConf gres;
  TopologyConf topology;
  Hierarchies resources;
  CgroupConf cgroup;
  SimpleConf mpi, acct_gather;
  HelpersConf helpers;                // empty where NodeFeaturesPlugins does not name them
  JobNamespaceConf job_namespaces;    // of the file that NamespaceType reads; counts where has_job_namespaces()
  std::vector<ConfigNotice> notices;  // one line of the log each
};

// `node_line`: a NodeName line that is read before those of slurm.conf, so no NodeName=DEFAULT changes it; a slurmd that is started with -Z
// has its own there.
std::expected<LoadedConfig, std::vector<ConfigError>> load_config(FileSource& source, const std::string& path,
                                                                  std::string_view node_line = {});

// Reads the files like load_config, but gives the configuration, the notices and the errors together; load_config gives either the
// configuration or the errors.
struct ConfigReport {
  LoadedConfig loaded;  // to be used only when there are no errors; its notices are there in any case
  std::vector<ConfigError> errors;
};
ConfigReport check_config(FileSource& source, const std::string& path, std::string_view node_line = {});

// slurmdbd.conf and other files of plain keys, on their own.
struct LoadedSimple {
  SimpleConf conf;
  std::vector<ConfigNotice> notices;
};
std::expected<LoadedSimple, std::vector<ConfigError>> load_simple(FileSource& source, const std::string& path, ConfFile file);

}  // namespace muster::config
