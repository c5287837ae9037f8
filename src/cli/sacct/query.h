// Turns sacct's options into the question to slurmdbd: which jobs, in which window of time. sacct(1) DEFAULT TIME WINDOW. Pure but for the
// user database.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/common/options.h"
#include "model/accounting.h"

namespace muster::cli {

struct RecordQuery {
  rpc::QueryRecords query;
  std::vector<rpc::JobSelector> selectors;  // of -j if one names a step: what of each job is shown; otherwise none
};

// A wrong value, in Slurm's words. The form says how the line begins: "sacct: error: ", "sacct: fatal: " or nothing.
struct QueryMistake {
  enum class Form : uint8_t { kError, kFatal, kPlain } form = Form::kError;
  std::string text, hint;
};

// JobRecordFilter::states of the jobs that ended within its time.
inline constexpr uint32_t kEndedStates = [] {
  uint32_t bits = 0;
  for (int i = 0; i < kJobStateCount; ++i)
    if (is_finished(static_cast<JobState>(i))) bits |= 1u << i;
  return bits;
}();

// `me` is the user whose jobs are meant when no user is named; root asks for all.
std::expected<RecordQuery, QueryMistake> make_record_query(const SacctOptions& options, const std::string& cluster, Time now, Uid me);

// --whole-hetjob: the question whose records tell of which jobs those named are components; nothing where there is no need to ask.
std::optional<rpc::QueryRecords> wholes_question(const SacctOptions& options, const RecordQuery& query);
// Where the record is of a component that is named by its own id, its whole job is meant from now on.
void mean_whole(RecordQuery& query, const JobRecord& component);

// What -v prints: "Jobs COMPLETED in the time window from Epoch 0 to Sun Nov 22 05:35:22 2026".
std::string window_text(const rpc::JobRecordFilter& filter);

// With -j 12.0,13, only that step of job 12 is shown, without a line of the job itself, and job 13 in full. An empty list shows everything.
bool selects_job(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job);
bool selects_step(const std::vector<rpc::JobSelector>& wanted, const JobRecord& job, StepId step);

}  // namespace muster::cli
