// What is told of a run that has ended: a line of jobcomp/filetxt, the variables of jobcomp/script, a document of jobcomp/elasticsearch.
// slurm.conf(5) JobCompType, guide elasticsearch. Names of lines, variables and members are those that Slurm uses. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurmctld/core/run_ends.h"

namespace muster::slurmctld {

// "JobId=7 UserId=alice(1000) … ExitCode=0:0 \n". A text that a user chose stays in its place: control characters and bytes that are no UTF-8 are
// visible in it (base/plain_text.h), and a blank before what would be read as a key of the line is \040.
std::string completion_line(const EndedRun& run);

// JOBID, JOBSTATE …: the whole environment of the program.
std::vector<std::string> completion_variables(const EndedRun& run);

// One JSON object. `comment`: with the job's. `script`: the batch script, if it is to be sent.
std::string completion_document(const EndedRun& run, bool comment, const std::optional<std::string>& script);

}  // namespace muster::slurmctld
