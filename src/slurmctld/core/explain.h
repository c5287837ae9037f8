// Answers to muster explain, from a snapshot: which record is meant, and what the scheduler says about it (sched/explain.h). Called on the
// query thread. Errors: kInvalidJobId and kInvalidNodeName, both with the nearest name there is; kAccessDenied. What PrivateData hides from
// the asker is left out: other users' jobs, and which nodes are in what state.
#pragma once

#include "model/explanation.h"
#include "model/rpc.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

Result<JobExplanation> explain_job(const Cluster& cluster, const Settings& settings, Time now, const rpc::ExplainJob& query,
                                   const Privacy& privacy = {});
Result<NodeExplanation> explain_node(const Snapshot& cluster, const Settings& settings, Time now, const rpc::ExplainNode& query,
                                     const Privacy& privacy = {});

}  // namespace muster::slurmctld
