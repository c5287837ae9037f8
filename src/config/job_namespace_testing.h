// For tests of what jobs have for themselves: a configuration of which one file says that.
#pragma once

#include <string>

#include "config/load.h"

namespace muster::config {

struct ReadNamespaces {
  bool ok = false;
  std::string said;  // errors and notices
  LoadedConfig loaded;
  const JobNamespace& of(const char* node) const { return loaded.job_namespaces.of(node); }
};

// `file`: its name beside slurm.conf; `nodes`: those that there are; `keys`: more lines of slurm.conf.
inline ReadNamespaces read_namespaces(const std::string& file, const std::string& text, const std::string& nodes, const std::string& keys) {
  MemoryFiles files{
      {"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=h(1.2.3.4)\nNodeName=" + nodes + "\nPartitionName=p Nodes=ALL\n" + keys},
      {"/e/" + file, text}};
  auto loaded = load_config(files, "/e/slurm.conf");
  if (!loaded) return {false, to_text(loaded.error()), {}};
  return {true, to_text(loaded->notices), std::move(*loaded)};
}

}  // namespace muster::config
