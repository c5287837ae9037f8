// What can be said of the configuration between two readings of the files: one key at a time, or a NodeName line. Both are
// checked by the same rows as the files. scontrol(1) setdebug, setdebugflags, fsdampeningfactor, update SuspendExc*,
// create NodeName=.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/slurm_conf.h"

namespace muster::config {

// Sets a key of the cluster; `op` is "=", "+=" or "-=" (lists). kInvalidArgument with the rule for a bad key or value.
Result<> set_value(Config& config, std::string_view key, std::string_view op, std::string_view value);

// The nodes of one line "NodeName=… Key=…", with what `config` says of GresTypes and SlurmdPort. kInvalidArgument.
Result<std::vector<NodeConfig>> parse_node_line(const Config& config, const std::string& line);

}  // namespace muster::config
