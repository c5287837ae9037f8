// Numbers for runs of srun --no-allocate, which have no job: a number that no job can have stands in wherever tasks, folders and
// control groups are named by a job. By it alone, also after a restart, nodes know that the controller has no record of such a run.
// srun(1).
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace muster {

inline constexpr uint32_t kFirstWithoutJob = 0x80000000u;  // MaxJobId is 67108863 at most
inline constexpr uint32_t kNumbersWithoutJob = 0x40000000u;

constexpr bool is_without_job(JobId id) { return id.value >= kFirstWithoutJob && id.value - kFirstWithoutJob < kNumbersWithoutJob; }
// `tick` counts up by one for each run. Numbers repeat after kNumbersWithoutJob runs.
constexpr JobId number_without_job(uint64_t tick) { return JobId(kFirstWithoutJob + static_cast<uint32_t>(tick % kNumbersWithoutJob)); }

}  // namespace muster
