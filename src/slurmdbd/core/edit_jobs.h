// sacctmgr modify job, and the repair of runaway jobs: changes stored records as asked. Pure.
#pragma once

#include "base/result.h"
#include "model/accounts.h"

namespace muster::slurmdbd {

// Checks a request before any record is looked for. kAccessDenied: a user may set comment, extra and derived exit code; the rest needs
// an operator. kError: nothing to set, no jobs named, or a state that is no end.
Result<> check_job_edit(const rpc::EditJobRecords& request, bool is_operator);

// Returns those of `records` that change, with the new values, for a request that was checked. kAccessDenied: others' jobs need an
// operator.
Result<std::vector<JobRecord>> edit_jobs(std::vector<JobRecord> records, const rpc::EditJobRecords& request, Uid actor, bool is_operator);

}  // namespace muster::slurmdbd
