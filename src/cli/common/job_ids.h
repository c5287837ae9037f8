// Jobs as users name them on command lines: 123, 123_4, 123_[4-7,9], 123+1, 123.0, 123_4.batch, s6DPK2R0G9C0G0 (a SLUID); and their states.
// scancel(1), squeue(1), sacct(1), scontrol(1). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/rpc.h"

namespace muster::cli {

// "123_*" is the whole array. The error is kInvalidJobId with the text "Invalid job id <text>".
Result<rpc::JobSelector> parse_job_selector(std::string_view text);
// The job as the user would write it.
std::string selector_text(const rpc::JobSelector& s);

// Reads "batch", "extern", "interactive" or a number.
Result<StepId> parse_step_id(std::string_view text);
std::string step_id_text(StepId id);

// Adds the states of a list to the bits of a filter; "all" lifts the filter. Gives the first word that is no state, or nullptr.
const std::string* add_job_states(const std::vector<std::string>& names, uint32_t& states, uint32_t& flags);

}  // namespace muster::cli
