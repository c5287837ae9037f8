// Changes to the configuration between two readings of the files: one key at a time, or the nodes of one NodeName line. Both are checked by
// the same rows as the files. scontrol(1) setdebug, setdebugflags, fsdampeningfactor, update SuspendExc*, create NodeName=.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/slurm_conf.h"

namespace muster::config {

// Sets a key of the cluster; `op` is "=", "+=" or "-=" (lists). A bad key or value fails with kInvalidArgument and the rule it breaks.
Result<> set_value(Config& config, std::string_view key, std::string_view op, std::string_view value);

// The nodes of one line "NodeName=… Key=…", checked against the GresTypes and SlurmdPort of `config`. Errors are kInvalidArgument.
Result<std::vector<NodeConfig>> parse_node_line(const Config& config, const std::string& line);

// How many nodes there may be with those that are created: MaxNodeCount, but never fewer than the files have. slurm.conf(5).
size_t most_nodes(const Config& config);

}  // namespace muster::config
