// When all usage is set back to nothing: slurm.conf(5) PriorityUsageResetPeriod. Midnights are of the local time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace muster {

enum class UsageResetPeriod : uint8_t { kNone, kNow, kDaily, kWeekly, kMonthly, kQuarterly, kYearly };

// In any case; nullopt: no such word.
std::optional<UsageResetPeriod> parse_usage_reset_period(std::string_view word);

// The first boundary after `after`: the next midnight, Sunday's, that of the first day of a month, a quarter, a year. kTimeInfinite for kNone
// and kNow, which have none.
Time next_usage_reset(UsageResetPeriod period, Time after);

}  // namespace muster
