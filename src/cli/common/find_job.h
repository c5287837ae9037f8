// A job as users name it, a task of an array too, as the number under which it runs.
#pragma once

#include "cli/common/session.h"

namespace muster::cli {

// Asks the controller only for tasks of arrays and for runs (SLUIDs). Errors: kInvalidJobId where no such task has a number of
// its own yet, or that run is over.
Result<JobId> find_job(Session& session, const rpc::JobSelector& job);

}  // namespace muster::cli
