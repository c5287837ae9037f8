// namespace.yaml: what each job has for itself on its nodes with NamespaceType=namespace/linux (job_namespace.h); else the file is only checked.
// namespace.yaml(5). Beside the rules of both files: no YAML, a flag or a number that is none is an error, a key that is not known a notice.
#pragma once

#include <string>

#include "config/job_namespace.h"

namespace muster::config {

struct Findings;

JobNamespaceConf build_namespace_yaml(const std::string& path, const std::string& text, const Config& config, Findings& findings);

}  // namespace muster::config
