// What a job takes at least, before it has nodes; limits are first asked about this amount (sched/gate.h). The job may get more: whole
// cores, whole nodes, memory that follows from CPUs. Alternatives (licences with '|') count nothing, as none of them is sure. Cost: O(kinds
// of devices).
#pragma once

#include "model/cluster.h"
#include "sched/least.h"
#include "sched/request/request_shape.h"

namespace muster::sched {

// In the partition, whose weights say what it is billed.
Least least_wanted(const Shape& shape, const Partition& partition, const Cluster& cluster);

}  // namespace muster::sched
