// Reasons that name a limit of an association or a QOS: AssocGrpCpuLimit, QOSMaxJobsPerUserLimit … One is true of a job if such a limit is set
// that bounds it, and those whom it bounds together would come to more with what the job asks for. Guides job_reason_codes, resource_limits.
#pragma once

#include <string_view>

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sim {

struct LimitQuestion {
  const Cluster& cluster;
  const sched::Params& params;
  Time now;
  const Job& job;
  const Partition& partition;  // one that it may run in
};

// False, too, for reasons that name no limit, or none that a job waits for.
bool limit_is_reached(const LimitQuestion& question, Reason reason);
std::string_view why_limit_is_unchecked(Reason reason);  // "": it is checked

}  // namespace muster::sim
