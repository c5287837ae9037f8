// sacctmgr modify job, and the repair of runaway jobs: changes stored records as asked. Pure.
#pragma once

#include "base/result.h"
#include "model/accounts.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"

namespace muster::slurmdbd {

// Checks a request before any record is looked for. kAccessDenied: a user may set comment, extra and derived exit code; the rest needs
// an operator. kError: nothing to set, no jobs named, a state that is no end, a step is named, a TRES that is not known, or a wckey where none
// is tracked. kBadName: no name for a wckey.
Result<> check_job_edit(const rpc::EditJobRecords& request, bool is_operator, const Settings& settings, const Directory& directory);

// Which jobs a request that was checked is about. Who is no operator changes his own: kAccessDenied where he names others.
Result<rpc::JobRecordFilter> jobs_to_edit(const rpc::EditJobRecords& request, Uid actor, bool is_operator);

// The text that a record has, or that a request puts into each, is in memory for all records together. kResultTooLarge: it is too much.
inline constexpr size_t kMostEditedBytes = 64u << 20;
size_t text_bytes(const JobRecord& record);
size_t text_bytes(const rpc::EditJobRecords& request);
Result<> check_edited_bytes(size_t bytes);

// Returns those of `records` that change, with the new values, for a request that was checked. With a time in its conditions, jobs must
// have started at or after `from` and ended before `until`. Of the TRES those that are named change. kAccessDenied: others' jobs need an
// operator.
Result<std::vector<JobRecord>> edit_jobs(std::vector<JobRecord> records, const rpc::EditJobRecords& request, Uid actor, bool is_operator);

}  // namespace muster::slurmdbd
