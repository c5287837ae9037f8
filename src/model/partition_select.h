// PartitionSelect: a partition's SelectTypeParameters, "CR_Socket_Memory": what its jobs are given in place of what the cluster's hand out.
// slurm.conf(5) SelectTypeParameters of a partition. Pure.
#pragma once

#include <string_view>

#include "base/result.h"

namespace muster {

struct PartitionSelect {
  bool given = false;                    // a word says what is handed out
  bool sockets = false, memory = false;  // whole sockets, or else cores; memory is handed out, too

  // Words that say nothing of it have no effect; of several the last one holds.
  static Result<PartitionSelect> parse(std::string_view text);
};

}  // namespace muster
