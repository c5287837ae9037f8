// What a job takes at least, before it has nodes: what a limit is asked about first (sched/gate.h). More may come of it: whole cores, whole
// nodes, memory that follows from CPUs. Of alternatives (licences with '|') nothing is sure. Cost: O(kinds of devices).
#pragma once

#include "model/tres_table.h"
#include "sched/request/request_shape.h"

namespace muster::sched {

TresCounts least_wanted(const Shape& shape, const TresTable& table);

}  // namespace muster::sched
