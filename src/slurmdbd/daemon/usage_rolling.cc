#include "slurmdbd/daemon/usage_rolling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "slurmdbd/core/record_rights.h"

namespace muster::slurmdbd {
namespace {

// The edges of the hours within [from, until), at most so many hours; the last hour may be cut off.
std::vector<Time> edges_within(Time from, Time until, size_t most) {
  std::vector<Time> out = {from};
  while (out.size() <= most && out.back() < until) out.push_back(std::min(until, period_after(UsagePeriod::kHour, out.back())));
  return out;
}

using Rows = std::map<Time, Usage>;  // roll-ups of one period, by their begin

// The roll-ups of the longer period that those hours or days belong to and that are over: sums of `fresh` and, for the rest, of what the
// database has.
Result<Rows> longer(sql::Storage& storage, const std::string& cluster, UsagePeriod shorter, const Rows& fresh, Time rolled) {
  const auto period = static_cast<UsagePeriod>(static_cast<uint8_t>(shorter) + 1);
  Rows out;
  for (auto at = fresh.begin(); at != fresh.end();) {
    const Time begin = period_begin(period, at->first), end = period_after(period, begin);
    const auto next = fresh.lower_bound(end);
    if (end <= rolled) {
      std::map<Time, std::vector<Usage>> parts;
      MUSTER_TRY_VOID(storage.load_usage(cluster, shorter, begin, end, [&](Time t, const Usage& u) -> Result<> {
        if (!fresh.contains(t)) parts[t].push_back(u);
        return {};
      }));
      for (; at != next; ++at) parts[at->first].push_back(at->second);
      UsageSum sum;
      for (const auto& [t, usages] : parts)
        for (const Usage& u : usages) sum.add(u);
      out[begin] = sum.take();
    }
    at = next;
  }
  return out;
}

// How far the cluster's usage is rolled up. Where records are not whole any more nothing is rolled, so that time counts as rolled. Unset:
// there are no records.
Result<sql::UsageState> rolled_state(sql::Storage& storage, const std::string& cluster) {
  MUSTER_TRY(state, storage.usage_state(cluster));
  MUSTER_TRY(whole, storage.whole_from(cluster));
  if (state.first == kTimeUnset) {
    MUSTER_TRY(first, storage.first_time(cluster));
    if (first == kTimeInfinite) return state;
    state.first = state.rolled = period_begin(UsagePeriod::kHour, std::max(first, whole));
  }
  state.rolled = std::max(state.rolled, whole);
  return state;
}

void put(sql::UsageBatch& batch, UsagePeriod period, Rows rows) {
  for (auto& [at, usage] : rows) batch.rows.push_back({period, at, std::move(usage)});
}

}  // namespace

Result<std::vector<Usage>> usage_of_hours(sql::Storage& storage, const Directory& directory, const std::string& cluster,
                                          std::vector<Time> edges) {
  const Time from = edges.front(), until = edges.back();
  UsageRoll roll(std::move(edges));
  MUSTER_TRY_VOID(storage.reservations_within(cluster, from, until, [&](const ReservationRecord& r) -> Result<> {
    roll.add(r, holders_of(directory, cluster, r));
    return {};
  }));
  MUSTER_TRY_VOID(storage.events_within(cluster, from, until, [&](const EventRecord& e) -> Result<> {
    roll.add(e);
    return {};
  }));
  MUSTER_TRY_VOID(storage.jobs_within(cluster, from, until, [&](const JobRecord& j, uint64_t joules) -> Result<> {
    roll.add(j, joules);
    return {};
  }));
  return roll.take();
}

Result<bool> roll_some(sql::Storage& storage, const Directory& directory, const std::string& cluster, Time now) {
  const Time end = period_begin(UsagePeriod::kHour, now);
  sql::UsageBatch batch;
  MUSTER_TRY(state, rolled_state(storage, cluster));
  MUSTER_TRY(changed, storage.changed_times(cluster));
  if (state.first == kTimeUnset) return false;
  std::vector<Span> due = changed;
  due.push_back({state.rolled, end});
  due = united(std::move(due));
  if (due.empty()) return false;

  const std::vector<Time> edges =
      edges_within(period_begin(UsagePeriod::kHour, due.front().from), hour_not_before(std::min(due.front().until, end)), kHoursPerRoll);
  if (edges.size() < 2) return false;
  MUSTER_TRY(usages, usage_of_hours(storage, directory, cluster, edges));
  Rows hours;
  for (size_t i = 0; i < usages.size(); ++i) hours[edges[i]] = std::move(usages[i]);

  batch.state = {std::min(state.first, edges.front()), std::max(state.rolled, edges.back())};
  for (Span& s : changed) s.from = std::max(s.from, edges.back());
  batch.still_changed = united(std::move(changed));
  MUSTER_TRY(days, longer(storage, cluster, UsagePeriod::kHour, hours, batch.state.rolled));
  MUSTER_TRY(months, longer(storage, cluster, UsagePeriod::kDay, days, batch.state.rolled));
  put(batch, UsagePeriod::kHour, std::move(hours));
  put(batch, UsagePeriod::kDay, std::move(days));
  put(batch, UsagePeriod::kMonth, std::move(months));
  MUSTER_TRY_VOID(storage.put_usage(cluster, batch));
  return !batch.still_changed.empty() || batch.state.rolled < end;
}

Result<Usage> usage_within(sql::Storage& storage, const Directory& directory, const std::string& cluster, Time from, Time until, Time now,
                           UsageSelection selection) {
  MUSTER_TRY(state, rolled_state(storage, cluster));
  if (state.first == kTimeUnset) return selection.take();
  from = std::max(from, state.first);
  until = std::min(until, now);
  for (const UsageStretch& s : stretches(from, std::min(until, state.rolled), state.rolled))
    MUSTER_TRY_VOID(storage.load_usage(cluster, s.period, s.from, s.until, [&](Time, const Usage& u) -> Result<> {
      selection.add(u);
      return {};
    }));
  const std::vector<Time> rest = edges_within(std::max(from, state.rolled), until, kHoursOnTheSpot);
  if (rest.size() < 2 || rest.back() < until) return selection.take();  // nothing, or too much: the roll-up is far behind
  MUSTER_TRY(usages, usage_of_hours(storage, directory, cluster, rest));
  for (const Usage& u : usages) selection.add(u);
  return selection.take();
}

}  // namespace muster::slurmdbd
