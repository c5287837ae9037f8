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

// With -v: "Signal 10 to batch job 5", "Terminating step 5.0".
std::string action_line(const rpc::SignalJobs& request, const rpc::JobSelector& target);
// The filters, for who matched no job: "job_name=x partition=p ". "" without one.
std::string filters_text(const ScancelOptions& options);
// With -vvv: everything that was asked for, one setting a line.
std::vector<std::string> settings_lines(const ScancelOptions& options, const rpc::SignalJobs& request);

}  // namespace muster::cli
