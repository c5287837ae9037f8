// What a job takes at least, before it has nodes; limits are first asked about this amount (sched/gate.h). The job may get more: whole
// cores, whole nodes, memory that follows from CPUs. Alternatives (licences with '|') count nothing, as none of them is sure. Cost: O(kinds
// of devices).
#pragma once

#include "model/tres_table.h"
#include "sched/request/request_shape.h"

namespace muster::sched {

TresCounts least_wanted(const Shape& shape, const TresTable& table);

}  // namespace muster::sched
