// Answers of `scrontab -l` and `strigger --get` from a snapshot. Pure; called on the query thread.
#pragma once

#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// Whose trigger it is, which one, and of which job: what the filter names must be so.
bool means(const rpc::TriggerFilter& filter, const Trigger& trigger);
// The triggers that the caller may see: one's own; of others those that PrivateData hides neither by their user nor by their job.
rpc::TriggerRows query_triggers(const Cluster& cluster, const Privacy& privacy, const Caller& who, const rpc::QueryTriggers& query);

// A user's crontab. kAccessDenied for whoever is neither that user nor an operator.
Result<rpc::CrontabText> query_crontab(const Cluster& cluster, const Rights& rights, const Caller& who, const rpc::QueryCrontab& query);

}  // namespace muster::slurmctld
