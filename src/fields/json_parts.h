// Members of --json documents that jobs, steps and their records have in common.
#pragma once

#include "fields/json_values.h"
#include "model/enums.h"

namespace muster::fields {

// [{"type", "name", "id", "count"}] of "cpu=2,mem=500M,node=1,gres/gpu=2"; memory in MB. 0 as id: the database has given none.
void json_tres_list(Members& m, std::string_view key, std::string_view tres);
// {"seconds", "microseconds"}: nothing was sampled, so both are 0.
void json_cpu_time(Members& m, std::string_view key);
// {"status", "return_code", "signal"} of a wait status.
void json_exit_code(Members& m, std::string_view key, int32_t status, JobState state);

}  // namespace muster::fields
