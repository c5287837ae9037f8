// Sluid: the sortable, unique id of one run of a job ("s6DPK2R0G9C0G0"), which users may write wherever a job id is asked
// for. squeue(1) SLUID, sacct(1) SLUID. A requeued job's next run has another one; the ids of later jobs sort after it.
//
// It is not stored, because it is made of values that are: when the job was submitted (seconds), its number, and how often it was
// restarted, which are also the key of its record in the accounting database. So code that gets one finds the job without an index, and
// can tell whether it means an earlier run, or another job that got the same number later.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace muster {

using Sluid = StrongId<struct SluidTag, uint64_t>;  // 0: none

inline constexpr unsigned kSluidJobBits = 26;  // MaxJobId fits
inline constexpr unsigned kSluidRestartBits = 6;

Sluid sluid_of(JobId job, Time submitted, uint32_t restarts);
JobId job_of(Sluid sluid);

// 's' and 13 digits of base 32 (Crockford's: no I, L, O, U), which 64 bits need.
std::string sluid_text(Sluid sluid);
// nullopt if the text is not one. Letters may be of either case.
std::optional<Sluid> parse_sluid(std::string_view text);

}  // namespace muster
