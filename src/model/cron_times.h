// CronTimes: when an entry of a crontab is due, and the next such moment. scrontab(1), with the grammar of crontab(5).
//
//   5,20-40/10 8-17/2 * * wed    minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly …
//
// Where both the day of the month and the day of the week are restricted, one of them is enough, as cron has it. Times are those of the
// process's zone (TZ). Where clocks are put forward, a time of day that does not come is due at once after the gap; where they are put
// back, a time of day that comes twice is due the first time only. An entry for all hours goes by the hours that pass instead, so it is
// due in both hours of the same name, and not in the one that is left out.
//
// Errors: kInvalidTime, with the field that is wrong, or for a date that never comes (30 February). Cost: parse O(text); next() a few
// microseconds, for 29 February about 20.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster {

struct CronTimes {
  std::bitset<60> minutes;
  std::bitset<24> hours;
  std::bitset<32> days;     // of the month, 1 … 31
  std::bitset<13> months;   // 1 … 12
  std::bitset<7> weekdays;  // 0: Sunday
  bool every_hour = false;  // all of them
  bool any_day = false, any_weekday = false;

  static Result<CronTimes> parse(std::string_view text);
  bool empty() const { return minutes.none(); }
  // The first due moment after `now`; nullopt: there is none in the next nine years.
  std::optional<Time> next(Time now) const;
  bool operator==(const CronTimes&) const = default;
};

// How many characters at the front of a crontab's line are the times: "@hourly", or five fields. 0: the line has fewer.
size_t cron_times_length(std::string_view line);

}  // namespace muster
