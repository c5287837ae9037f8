// Time values. Nothing here reads a clock: `now` is always a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;  // Time{} means "not set"

inline constexpr Time kTimeUnset{};
inline constexpr Time kTimeInfinite = Time::max();

constexpr Duration seconds(int64_t s) { return std::chrono::seconds(s); }
constexpr Duration minutes(int64_t m) { return std::chrono::minutes(m); }
constexpr Duration milliseconds(int64_t ms) { return std::chrono::milliseconds(ms); }
constexpr int64_t to_seconds(Duration d) { return std::chrono::duration_cast<std::chrono::seconds>(d).count(); }
constexpr int64_t unix_seconds(Time t) { return to_seconds(t.time_since_epoch()); }
constexpr Time from_unix(int64_t s) { return Time(seconds(s)); }

// A time limit in minutes as users write it (sbatch(1) --time): "30", "1:30" (min:sec, rounded up), "2:00:00", "1-12", "1-12:30",
// "1-12:30:15", "UNLIMITED", "INFINITE", "-1". nullopt in the value means unlimited. "0" gives 0: that a limit of zero asks for no
// limit is a rule of the options and not of this grammar.
struct TimeLimit {
  std::optional<uint32_t> minutes;  // nullopt: unlimited
  bool operator==(const TimeLimit&) const = default;
};
Result<TimeLimit> parse_time_limit(std::string_view text);
// A stretch of time in the same forms, to the second and without words: "30" (minutes), "0:05", "1-12". nullopt: it is none of them, or
// longer than a time limit can be.
std::optional<Duration> parse_time_span(std::string_view text);

// squeue's layout of a span: "[days-][hours:]minutes:seconds", e.g. 1-00:00:00, 2:00:00, 5:00, 0:07; "INVALID" when negative.
std::string format_span(Duration span);
// scontrol's layout: always "[days-]HH:MM:SS". The caller writes "UNLIMITED" itself.
std::string format_span_full(Duration span);
// Local time "2026-01-31T23:59:59"; `unset` for kTimeUnset. The zone is the process's TZ.
std::string format_time(Time time, std::string_view unset = "Unknown");

// Days of the local calendar: the time of day stays, also over a change to summer time. 0 = Sunday … 6 = Saturday.
Time add_local_days(Time t, int days);
int local_weekday(Time t);

// How to read a time of day without a date, or a date without a year, that is already past.
enum class ClockRule {
  kNextOccurrence,  // --begin, reservations: the next day, the next year
  kThisDayOrYear,   // queries of the past (sacct -S): today, this year
};

// A point in time as sbatch(1) --begin takes it: "now", "now+1hour", "16:00", "fika", "teatime", "noon", "midnight",
// "today", "tomorrow", "2026-01-20", "2026-01-20T12:34:00", "0120", "01/20/26", "HH:MM[:SS] [AM|PM]", "uts1234567890".
// Date and time may stand in either order; "elevenses" is 11:00, years of two digits are 20YY. Whole seconds, local time.
// Errors: kInvalidTime with the offset of the first wrong character. Cost: O(length).
Result<Time> parse_time_point(std::string_view text, Time now, ClockRule rule = ClockRule::kNextOccurrence);

}  // namespace muster
