// Runs of srun --no-allocate have no job; where tasks, folders and control groups are named by one, they have a number that no
// job can have. Nodes know by it alone, also after a restart, that the controller has no record of what runs. srun(1).
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace muster {

inline constexpr uint32_t kFirstWithoutJob = 0x80000000u;  // MaxJobId is 67108863 at most
inline constexpr uint32_t kNumbersWithoutJob = 0x40000000u;

constexpr bool is_without_job(JobId id) { return id.value >= kFirstWithoutJob && id.value - kFirstWithoutJob < kNumbersWithoutJob; }
// `tick`: counts up, a run each. Numbers come again after so many ticks.
constexpr JobId number_without_job(uint64_t tick) { return JobId(kFirstWithoutJob + static_cast<uint32_t>(tick % kNumbersWithoutJob)); }

}  // namespace muster
