// The fair-share factors that a pass goes by: those of the cluster where they still hold, else new ones for this PriorityCalcPeriod
// (acct/shares.h). Null where fair share has no weight and no QOS asks for it
// (EnforceUsageThreshold). Cost: O(associations x log) once in a period.
#pragma once

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sched {

FairFactorsPtr fair_factors(const Cluster& cluster, const PriorityParams& params, Time now);

}  // namespace muster::sched
