// squeue's options as the question to the controller, and what the controller does not filter. squeue(1).
#pragma once

#include "base/time.h"
#include "cli/common/options.h"
#include "model/rpc.h"

namespace muster::cli {

// Errors: unknown users and states, job ids that are none.
Result<rpc::QueryJobs> make_query(const SqueueOptions& options);

// The -s list: which steps are shown; empty: all.
Result<std::vector<rpc::JobSelector>> step_selectors(const SqueueOptions& options);
bool selects(const std::vector<rpc::JobSelector>& wanted, const StepRow& row);

// --notme, --running-over, --running-under: the rest of the filters.
bool kept(const SqueueOptions& options, const JobRow& row, Uid owner, Uid me, Time now);

// -r: a record of pending array tasks as one row per task; others alone.
void expand_array(JobRow&& row, std::vector<JobRow>& out);

}  // namespace muster::cli
