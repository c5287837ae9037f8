// Turns what scancel was told into the request it sends. One request serves any number of jobs and filters. scancel(1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/common/options.h"
#include "model/rpc.h"

namespace muster::cli {

// Errors: a word that is no job id, an unknown user, nothing to select by ("No job identification provided").
Result<rpc::SignalJobs> plan_cancel(const ScancelOptions& options, const std::vector<std::string>& operands);

// A line such as "scancel: error: Kill job error on job id 5: Invalid job id specified"; empty when --quiet leaves it out (jobs that are
// already over).
std::string error_line(const rpc::PerJobError& e, bool quiet);

// A line of -v: "Signal 10 to batch job 5", "Terminating step 5.0".
std::string action_line(const rpc::SignalJobs& request, const rpc::JobSelector& target);
// The filters as text, for when no job matched: "job_name=x partition=p ". "" without any.
std::string filters_text(const ScancelOptions& options);
// The lines of -vvv: everything that was asked for, one setting a line.
std::vector<std::string> settings_lines(const ScancelOptions& options, const rpc::SignalJobs& request);

}  // namespace muster::cli
