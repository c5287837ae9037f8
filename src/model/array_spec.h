// Reads the text of --array: "0-15", "1,3,5-7", "0-999:10", "0-15%4"; and writes what squeue and scontrol print of the tasks that are
// still pending. sbatch(1) --array, guide job_array. Errors: Errc::kInvalidArray with a hint that names the piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"

namespace muster {

inline constexpr uint32_t kMaxArrayTaskId = 4'000'000;  // the largest that MaxArraySize may allow
inline constexpr size_t kArrayTextLength = 64;          // SLURM_BITSTR_LEN unless the environment says otherwise

// `max_id` is the largest index allowed (MaxArraySize - 1). Brackets around the list are accepted, since users paste them. "%0" means
// no limit. Cost: O(indices named).
Result<ArrayTasks> parse_array_spec(std::string_view text, uint32_t max_id);

// Writes "0-15%4", "1,3,5-7", "0-990:10%7": the form between the brackets of "1234_[…]". `length` is the size of the field as
// SLURM_BITSTR_LEN counts it: a longer list is cut to length-1 bytes that end in "...", and the %limit still follows; 0 = no bound. ""
// when no task is pending.
std::string format_array_tasks(const ArrayTasks& tasks, size_t length = kArrayTextLength);

}  // namespace muster
