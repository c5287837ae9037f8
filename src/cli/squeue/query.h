// Turns squeue's options into the question to the controller, and applies the filters that the controller does not. squeue(1).
#pragma once

#include <functional>

#include "base/time.h"
#include "cli/common/options.h"
#include "model/rpc.h"

namespace muster::cli {

// Errors: unknown users and states, words that are no job ids.
Result<rpc::QueryJobs> make_query(const SqueueOptions& options);

// The steps of the -s list, which are shown; empty: all.
Result<std::vector<rpc::JobSelector>> step_selectors(const SqueueOptions& options);
bool selects(const std::vector<rpc::JobSelector>& wanted, const StepRow& row);
// Applies that list, --name and --notme.
bool shows_step(const SqueueOptions& options, const std::vector<rpc::JobSelector>& wanted, const StepRow& row, Uid me);

// --notme, --running-over, --running-under: the rest of the filters.
bool kept(const SqueueOptions& options, const JobRow& row, Uid owner, Uid me, Time now);

// Visits the lines that one row of the controller stands for: with -r one for each pending task of an array, with -P one for each partition
// that a pending job may run in, with that partition's tier; else the row itself. They come one after the other: an array of a million
// tasks takes no memory here.
using RowVisitor = std::function<void(JobRow& line)>;
void each_line(const SqueueOptions& options, JobRow&& row, const RowVisitor& visit);

}  // namespace muster::cli
