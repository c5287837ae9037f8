// Members of --json documents that jobs, steps and their records have in common.
#pragma once

#include "fields/json_values.h"
#include "model/enums.h"
#include "model/tres_amounts.h"

namespace muster::fields {

// Writes amounts of TRES as [{"type", "name", "id", "count"}]; memory in MB. The id is 0 for TRES the database gives none.
void json_tres_list(Members& m, std::string_view key, const TresAmounts& tres);
// Writes {"seconds", "microseconds"}.
void json_cpu_time(Members& m, std::string_view key, Duration time);
// One TRES as {"type", "name", "id", "count"}. Without an id it has the one of that type that is the same everywhere, else 0.
void json_tres(Members& m, std::string_view type, std::string_view name, uint64_t count, std::optional<uint32_t> id = {});
// Writes a wait status as {"status", "return_code", "signal"}.
void json_exit_code(Members& m, std::string_view key, int32_t status, JobState state);

}  // namespace muster::fields
