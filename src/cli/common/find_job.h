// Finds the number under which a job runs, from its name as users give it. It may be a task of an array.
#pragma once

#include "cli/common/session.h"

namespace muster::cli {

// Asks the controller only for tasks of arrays and for runs (SLUIDs). kInvalidJobId where the task has no number of its own yet, or the run
// is over.
Result<JobId> find_job(Session& session, const rpc::JobSelector& job);

}  // namespace muster::cli
