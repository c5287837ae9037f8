// `scontrol show partition`. Layout of the example in scontrol(1). Cost: about 1 KiB a partition, appended.
#pragma once

#include <string>

#include "fields/show.h"

namespace muster::fields {

void show_partition(const PartitionRow& row, const Environment& env, const ShowOptions& options, std::string& out);

}  // namespace muster::fields
