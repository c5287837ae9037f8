// What `sacct -P --format=…` prints: a header with the names of columns, and a line for each job, with | between the fields. Columns may stand in
// any order; those that are not known are not looked at. Wanted are Submit, a start or run time, and a size:
//
//   JobIDRaw JobID   Submit Eligible Start End   ElapsedRaw Elapsed   TimelimitRaw Timelimit   State ExitCode
//   NNodes AllocNodes ReqNodes  NCPUS AllocCPUS ReqCPUS  ReqTRES AllocTRES  ReqMem   User Group Account Partition QOS
//
// A line of a step ("12.batch") is left out and counted; each task of an array and each component of a heterogeneous job is a job. What was
// asked for (ReqTRES) goes before what was had. Times are "2026-01-31T12:00:00" or, with SLURM_TIME_FORMAT=%s, seconds since 1970; the former
// are read as if all days had 24 hours, so that a change to summer time shifts what comes after it by an hour. sacct(1).
#pragma once

#include "sim/replay/trace.h"

namespace muster::sim::replay {

Result<Trace> read_sacct(std::string_view text, const ReadOptions& options);

// "2026-01-31T12:00:00" or seconds since 1970; nullopt for anything else, also for "Unknown" and "None".
std::optional<int64_t> read_moment(std::string_view text);
// The other way round.
std::string print_moment(int64_t unix_seconds);

}  // namespace muster::sim::replay
