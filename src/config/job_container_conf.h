// job_container.conf: what each job has for itself on its nodes with NamespaceType=namespace/tmpfs (job_namespace.h); else the file is only checked.
// job_container.conf(5).
#pragma once

#include <vector>

#include "config/job_namespace.h"
#include "config/parser.h"

namespace muster::config {

struct Findings;

// `keys`: takes what is wrong with single keys and values; `findings`: lines that mean nothing.
JobNamespaceConf build_job_container_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings);

}  // namespace muster::config
