// sacct's options as the question to slurmdbd: which jobs, in which window of time. sacct(1) DEFAULT TIME WINDOW. Pure but
// for the user database.
#pragma once

#include <string>

#include "base/time.h"
#include "cli/common/options.h"
#include "model/accounting.h"

namespace muster::cli {

struct RecordQuery {
  rpc::QueryRecords query;
  std::vector<rpc::JobSelector> selectors;  // of -j if one names a step: what of each job is shown; otherwise none
};

// A wrong value, in Slurm's words. `fatal` and `plain` choose how the line begins: "sacct: fatal: ", nothing.
struct QueryMistake {
  enum class Form : uint8_t { kError, kFatal, kPlain } form = Form::kError;
  std::string text, hint;
};

// `me`: whose jobs are meant where nobody is named; root asks for all.
std::expected<RecordQuery, QueryMistake> make_record_query(const SacctOptions& options, const std::string& cluster, Time now, Uid me);

// "Jobs COMPLETED in the time window from Epoch 0 to Sun Nov 22 05:35:22 2026": what -v prints.
std::string window_text(const rpc::JobRecordFilter& filter);

// With -j 12.0,13: of job 12 only that step and no line of its own, job 13 in full. With no list everything is shown.
bool selects_job(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job);
bool selects_step(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job, StepId step);

}  // namespace muster::cli
