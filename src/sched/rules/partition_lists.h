// AllowAccounts, AllowQos, DenyAccounts and DenyQos of a partition, in the words of a refused submission. For waiting jobs they are a row
// of job_rules(). slurm.conf(5).
#pragma once

#include "base/result.h"
#include "model/cluster.h"

namespace muster::sched {

// The error says to which accounts or QOS the partition is open, or to which it is closed.
Result<> lists_admit(const RequestBody& request, const Partition& partition);

}  // namespace muster::sched
