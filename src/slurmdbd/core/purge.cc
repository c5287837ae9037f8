#include "slurmdbd/core/purge.h"

#include <algorithm>

#include "model/usage_time.h"

namespace muster::slurmdbd {
namespace {

constexpr Duration kHalfDay = minutes(12 * 60), kDay = minutes(24 * 60);

Time months_before(Time begin, uint32_t count) {
  for (; count > 0 && begin > Time{}; --count) begin = period_begin(UsagePeriod::kMonth, begin - kDay);
  return begin;
}

}  // namespace

PurgeRules purge_rules(const config::SimpleConf& conf) {
  PurgeRules rules;
  const std::pair<const char*, std::optional<config::PurgeAge>&> ages[] = {
      {"PurgeEventAfter", rules.events}, {"PurgeJobAfter", rules.jobs},         {"PurgeResvAfter", rules.reservations},
      {"PurgeStepAfter", rules.steps},   {"PurgeTXNAfter", rules.transactions}, {"PurgeUsageAfter", rules.usage}};
  for (const auto& [key, age] : ages) age = config::parse_purge_age(conf.text(key));
  rules.most_rows = static_cast<size_t>(std::max<int64_t>(1, conf.number("MaxPurgeLimit", 50'000)));
  return rules;
}

Time purge_before(config::PurgeAge age, Time now) {
  Time begin{};
  switch (age.unit) {
    case config::PurgeUnit::kHour:
      begin = period_begin(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now) - minutes(60 * int64_t{age.count}));
      break;
    case config::PurgeUnit::kDay:  // counted from noon, which every day has: a change of the clock may skip midnight
      begin =
          period_begin(UsagePeriod::kDay, add_local_days(period_begin(UsagePeriod::kDay, now) + kHalfDay, -static_cast<int>(age.count)));
      break;
    case config::PurgeUnit::kMonth: begin = months_before(period_begin(UsagePeriod::kMonth, now), age.count); break;
  }
  return std::max(begin, Time{});
}

}  // namespace muster::slurmdbd
