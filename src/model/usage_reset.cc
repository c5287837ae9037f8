#include "model/usage_reset.h"

#include <ctime>

#include "base/text.h"

namespace muster {

std::optional<UsageResetPeriod> parse_usage_reset_period(std::string_view word) {
  using enum UsageResetPeriod;
  constexpr std::pair<std::string_view, UsageResetPeriod> kWords[] = {{"NONE", kNone},     {"NOW", kNow},         {"DAILY", kDaily},
                                                                      {"WEEKLY", kWeekly}, {"MONTHLY", kMonthly}, {"QUARTERLY", kQuarterly},
                                                                      {"YEARLY", kYearly}};
  for (const auto& [name, period] : kWords)
    if (iequals(name, word)) return period;
  return std::nullopt;
}

Time next_usage_reset(UsageResetPeriod period, Time after) {
  const std::time_t moment = std::chrono::floor<std::chrono::seconds>(after.time_since_epoch()).count();
  std::tm day{};
  if (!localtime_r(&moment, &day)) return kTimeInfinite;
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  day.tm_isdst = -1;
  switch (period) {
    case UsageResetPeriod::kNone:
    case UsageResetPeriod::kNow: return kTimeInfinite;
    case UsageResetPeriod::kDaily: day.tm_mday += 1; break;
    case UsageResetPeriod::kWeekly: day.tm_mday += 7 - day.tm_wday; break;
    case UsageResetPeriod::kMonthly:
      day.tm_mday = 1;
      day.tm_mon += 1;
      break;
    case UsageResetPeriod::kQuarterly:
      day.tm_mday = 1;
      day.tm_mon += 3 - day.tm_mon % 3;
      break;
    case UsageResetPeriod::kYearly:
      day.tm_mday = 1;
      day.tm_mon = 0;
      day.tm_year += 1;
      break;
  }
  return Time(seconds(mktime(&day)));
}

}  // namespace muster
