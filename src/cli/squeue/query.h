// squeue's options as the question to the controller, and what the controller does not filter. squeue(1).
#pragma once

#include <functional>

#include "base/time.h"
#include "cli/common/options.h"
#include "model/rpc.h"

namespace muster::cli {

// Errors: unknown users and states, job ids that are none.
Result<rpc::QueryJobs> make_query(const SqueueOptions& options);

// The -s list: which steps are shown; empty: all.
Result<std::vector<rpc::JobSelector>> step_selectors(const SqueueOptions& options);
bool selects(const std::vector<rpc::JobSelector>& wanted, const StepRow& row);
// That, and --name and --notme.
bool shows_step(const SqueueOptions& options, const std::vector<rpc::JobSelector>& wanted, const StepRow& row, Uid me);

// --notme, --running-over, --running-under: the rest of the filters.
bool kept(const SqueueOptions& options, const JobRow& row, Uid owner, Uid me, Time now);

// The lines that one row of the controller stands for: with -r one for each pending task of an array, with -P one for
// each partition that a pending job may run in, with that one's tier; else the row. One after the other: an array of a
// million tasks takes no memory here.
using RowVisitor = std::function<void(JobRow& line)>;
void each_line(const SqueueOptions& options, JobRow&& row, const RowVisitor& visit);

}  // namespace muster::cli
