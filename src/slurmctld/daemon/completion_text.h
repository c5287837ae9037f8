// What is told of a run that has ended: a line of jobcomp/filetxt, the variables of jobcomp/script, a document of jobcomp/elasticsearch and jobcomp/kafka,
// which also tells of one that has begun. slurm.conf(5) JobCompType, guides elasticsearch and jobcomp_kafka. Names of lines, variables and members are those that Slurm uses. Pure.
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
// The same of a run that has begun, without what only an end brings.
std::string start_document(const EndedRun& run, bool comment, const std::optional<std::string>& script);

}  // namespace muster::slurmctld
