// sacct --completion, --file: what slurmctld wrote of ended jobs into a file (JobCompType=jobcomp/filetxt), as sacct shows records. Lines that are none
// are passed over. sacct(1). The file is read with the caller's rights.
#pragma once

#include <optional>
#include <string_view>

#include "cli/common/client_conf.h"
#include "cli/common/command.h"
#include "cli/sacct/query.h"

namespace muster::cli {

// The record of one line, "JobId=7 UserId=alice(1000) …", with what the line knows of the job. nullopt: no job is named. `now` is for times alone.
std::optional<JobRecord> completion_record(std::string_view line, Time now);

// Whether the filter's lists, bounds, states and window meet the record; a job is in the window by its end.
bool meets_filter(const rpc::JobRecordFilter& filter, const JobRecord& record);

// Prints them; the exit code.
int list_completions(const SacctOptions& options, const ClientConf& conf, const os::CliLog& log);

}  // namespace muster::cli
