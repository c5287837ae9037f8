// SuspendExcNodes: sets of nodes that power saving leaves up. slurm.conf(5): "nid[10-20]:4,nid[80-90]" keeps four of the first that are fit
// for work, and all of the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::config {

struct KeptUp {
  std::vector<std::string> nodes;
  std::optional<uint32_t> count;  // nullopt: all
};

// Errors: kInvalidArgument for a list or a count that is none; the set is named.
Result<std::vector<KeptUp>> parse_kept_up(std::string_view text);

}  // namespace muster::config
