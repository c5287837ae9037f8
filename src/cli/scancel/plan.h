// What scancel was told, as the request it sends. One request serves any number of jobs and filters.
// scancel(1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/common/options.h"
#include "model/rpc.h"

namespace muster::cli {

// Errors: a job id that is none, an unknown user, nothing to go by ("No job identification provided").
Result<rpc::SignalJobs> plan_cancel(const ScancelOptions& options, const std::vector<std::string>& operands);

// "scancel: error: Kill job error on job id 5: Invalid job id specified"; empty when --quiet leaves it out
// (jobs that are already over).
std::string error_line(const rpc::PerJobError& e, bool quiet);

}  // namespace muster::cli
