// namespace.yaml: what each job has for itself on its nodes with NamespaceType=namespace/linux: directories as in job_container.conf, and perhaps
// processes and users. Else the file is only checked. namespace.yaml(5).
//
//   error    what would give a job other directories than the site meant, or makes no sense: no YAML, a path that is none, a directory in
//            another, a base in a directory that is private, a flag or a number that is none
//   notice   a key that is not known, a node that slurm.conf does not have
//
// Cost: O(bytes + nodes named).
#pragma once

#include <string>

#include "config/job_container_conf.h"

namespace muster::config {

JobContainerConf build_namespace_yaml(const std::string& path, const std::string& text, const Config& config, Findings& findings);

}  // namespace muster::config
