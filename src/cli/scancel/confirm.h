// scancel --interactive: each job that would be hit is named and asked for. scancel(1) -i.
#pragma once

#include "cli/common/session.h"

namespace muster::cli {

// Replaces the filter of `request` by the jobs that were confirmed; none: nothing is left to do (false).
Result<bool> confirm_each(Session& session, rpc::SignalJobs& request);

}  // namespace muster::cli
