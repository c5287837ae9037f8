// What the column `record` of muster_jobs and muster_steps holds: the record as on the wire without what the row's other columns or its own
// other fields say, which is half of it. Reading puts it back, and takes the whole records of versions before 6 as they are. Pure.
//
// Left out are the key, the position, names shorter than a column, numbers and times that have columns, StdErr where it is StdOut, and what was
// asked for where that is what was had. Cost: a copy and an encoding; reading costs a decoding and a look at each column.
#pragma once

#include <string>
#include <string_view>

#include "model/accounting.h"
#include "sql/connection.h"

namespace muster::sql {

// What a statement selects so that read_job() can read it, from column `first` of the row on.
inline constexpr std::string_view kJobColumns =
    "record, job, submitted, restarts, cluster, position, uid, gid, account, part, name, qos, wckey, state, eligible, started, ended";

// About what a record has more than what is stored of it, for who counts the bytes of an answer.
inline constexpr size_t kLeftOutOfJob = 160, kLeftOutOfStep = 32;

std::string stored_job(JobRecord record);
Result<> read_job(const Row& row, int first, JobRecord& out);

// Of a step whose job is known: "step, position, ended, record".
std::string stored_step(StepRecord record);
Result<> read_step(const Row& row, int first, const JobRecordKey& job, StepRecord& out);

}  // namespace muster::sql
