#include "slurmdbd/core/usage_roll.h"

#include <algorithm>

#include "base/bitmap.h"
#include "base/check.h"
#include "model/array_spec.h"
#include "model/reservation.h"
#include "model/tres_sums.h"
#include "slurmdbd/core/controller_down.h"

namespace muster::slurmdbd {
namespace {

// How many jobs a record stands for that has pending tasks of an array: "0-15%4".
uint64_t tasks_of(const JobRecord& j) {
  if (j.array_tasks.empty()) return 1;
  Bitmap tasks;
  const std::string_view list = std::string_view(j.array_tasks).substr(0, j.array_tasks.find('%'));
  return Bitmap::parse_ranges(list, tasks, kMaxArrayTaskId + 1) ? std::max<uint64_t>(1, tasks.count()) : 1;
}

// Takes up to `wanted` of what is left, and says what that was.
TresAmounts take_of(TresAmounts& left, const TresAmounts& wanted) {
  TresAmounts taken = least_tres(wanted, left);
  left = less_tres(left, taken);
  return taken;
}

bool lists(const std::vector<std::string>& sorted, const std::string& name) {
  return sorted.empty() || std::ranges::binary_search(sorted, name);
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

}  // namespace

UsageRoll::UsageRoll(std::vector<Time> edges) : edges_(std::move(edges)) {
  MUSTER_CHECK(edges_.size() >= 2);
  hours_.resize(edges_.size() - 1);
}

uint32_t UsageRoll::number_of(UsageKey key) {
  const auto [at, fresh] = numbers_.try_emplace(std::move(key), static_cast<uint32_t>(keys_.size()));
  if (fresh) keys_.push_back(&at->first);
  return at->second;
}

template <class F>
void UsageRoll::each_hour(const Span& span, F&& f) {
  if (span.empty() || span.until <= edges_.front() || span.from >= edges_.back()) return;
  const auto first = std::ranges::upper_bound(edges_, span.from);
  size_t hour = first == edges_.begin() ? 0 : static_cast<size_t>(first - edges_.begin()) - 1;
  for (; hour < hours_.size() && edges_[hour] < span.until; ++hour)
    if (const uint64_t n = span.seconds_within(edges_[hour], edges_[hour + 1])) f(hour, n);
}

void UsageRoll::add(const ReservationRecord& reservation, std::vector<UsageKey> holders) {
  if (!(reservation.flags & kResvIgnoreJobs)) reserved_.emplace(reservation.name, Reserved{reservation, std::move(holders), {}});
}

// What is counted up to an hour's end less what was up to its begin: the parts are whole joules, and none is lost.
void UsageRoll::add_energy(const Span& used, uint32_t number, uint64_t joules) {
  const uint64_t length = used.seconds_within(used.from, used.until);
  if (!joules || !length || used.until == kTimeInfinite) return;
  const auto up_to = [&](Time t) {
    const uint64_t seconds = used.seconds_within(used.from, t);
    return joules / length * seconds + joules % length * seconds / length;
  };
  each_hour(used, [&](size_t hour, uint64_t) {
    const TresAmounts part{.energy = up_to(edges_[hour + 1]) - up_to(edges_[hour])};
    add_tres(hours_[hour].used[number], part);
    add_tres(hours_[hour].cluster.allocated, part);
    add_tres(hours_[hour].cluster.reported, part);
  });
}

void UsageRoll::add(const JobRecord& job, uint64_t joules) {
  if (const Span used = used_span(job); !used.empty()) {
    const uint32_t number = number_of({job.account, job.user, job.qos, job.wckey, job.partition, came_to_nothing(job)});
    each_hour(used, [&](size_t hour, uint64_t n) {
      add_tres(hours_[hour].used[number], job.tres_allocated, n);
      add_tres(hours_[hour].cluster.allocated, job.tres_allocated, n);
    });
    add_energy(used, number, joules);
    if (!job.reservation.empty())
      for (auto [at, end] = reserved_.equal_range(job.reservation); at != end; ++at) {
        const Span shared{std::max(used.from, at->second.record.started), std::min(used.until, at->second.record.ended)};
        each_hour(shared, [&](size_t hour, uint64_t n) { add_tres(at->second.used[hour], job.tres_allocated, n); });
      }
  }
  const Span waiting = waiting_span(job);
  if (waiting.empty() || waiting.until <= edges_.front() || waiting.from >= edges_.back()) return;
  const uint64_t tasks = tasks_of(job);
  each_hour(waiting, [&](size_t hour, uint64_t n) { add_tres(hours_[hour].waiting, job.tres_requested, n * tasks); });
}

void UsageRoll::add(const EventRecord& event) {
  each_hour(span_of(event), [&](size_t hour, uint64_t lasted) {
    ClusterTime& cluster = hours_[hour].cluster;
    if (is_controller_down(event)) {
      add_tres(cluster.down, event.tres, lasted);  // jobs come first (take): what they had was not down
    } else if (event.node.empty()) {
      add_tres(cluster.reported, event.tres, lasted);
      if (event.ended == kTimeUnset || event.ended >= edges_[hour + 1]) cluster.count = event.tres;
    } else if (event.planned()) {
      add_tres(cluster.planned_down, event.tres, lasted);
    } else if (event.down()) {
      add_tres(cluster.down, event.tres, lasted);
    }
  });
}

void UsageRoll::give_idle_reservations() {
  for (auto& [name, reserved] : reserved_) {
    const bool maintenance = reserved.record.flags & kResvMaint;
    std::vector<uint32_t> holders;
    for (const UsageKey& key : reserved.holders) holders.push_back(number_of(key));
    each_hour(span_of(reserved.record), [&](size_t hour, uint64_t n) {
      TresAmounts whole;
      add_tres(whole, reserved.record.tres, n);
      const TresAmounts idle = less_tres(whole, reserved.used[hour]);
      add_tres(maintenance ? hours_[hour].cluster.planned_down : hours_[hour].cluster.allocated, idle);
      if (maintenance || holders.empty()) return;
      const TresAmounts each = split_tres(idle, holders.size());
      for (uint32_t number : holders) add_tres(hours_[hour].used[number], each);
    });
  }
}

std::vector<Usage> UsageRoll::take() {
  give_idle_reservations();
  std::vector<Usage> out(hours_.size());
  for (size_t index = 0; index < hours_.size(); ++index) {
    Hour& hour = hours_[index];
    for (auto& [number, used] : hour.used) out[index].entries.push_back({*keys_[number], std::move(used)});
    std::ranges::sort(out[index].entries, {}, &UsageEntry::key);
    ClusterTime& c = out[index].cluster;
    c.reported = hour.cluster.reported;
    c.count = hour.cluster.count;
    TresAmounts left = c.reported;
    c.allocated = take_of(left, hour.cluster.allocated);
    c.down = take_of(left, hour.cluster.down);
    c.planned_down = take_of(left, hour.cluster.planned_down);
    c.planned = take_of(left, hour.waiting);
    c.over_committed = less_tres(only_tres(hour.waiting, c.reported), c.planned);
  }
  return out;
}

void UsageSum::add(const Usage& usage) {
  for (const UsageEntry& e : usage.entries) add_tres(entries_[e.key], e.used);
  const ClusterTime& c = usage.cluster;
  for (auto part : {&ClusterTime::reported, &ClusterTime::allocated, &ClusterTime::down, &ClusterTime::planned_down, &ClusterTime::planned,
                    &ClusterTime::over_committed})
    add_tres(cluster_.*part, c.*part);
  if (!c.count.empty()) cluster_.count = c.count;
}

Usage UsageSum::take() {
  Usage out;
  for (auto& [key, used] : entries_) out.entries.push_back({key, std::move(used)});
  out.cluster = std::move(cluster_);
  *this = {};
  return out;
}

UsageSelection::UsageSelection(const rpc::QueryUsage& q, std::string cluster, RecordAudience audience)
    : accounts_(sorted(q.accounts)),
      users_(sorted(q.users)),
      qos_(sorted(q.qos)),
      wckeys_(sorted(q.wckeys)),
      partitions_(sorted(q.partitions)),
      cluster_(std::move(cluster)),
      audience_(std::move(audience)),
      parts_(q.parts) {}

void UsageSelection::add(const Usage& usage) {
  Usage some;
  some.cluster = usage.cluster;
  for (const UsageEntry& entry : usage.entries) {
    const UsageKey& whose = entry.key;
    if (!lists(accounts_, whose.account) || !lists(users_, whose.user) || !lists(qos_, whose.qos) || !lists(wckeys_, whose.wckey)) continue;
    if (!lists(partitions_, whose.partition)) continue;
    if (!audience_.sees(std::string_view(whose.user), cluster_, whose.account)) continue;
    UsageKey key;
    if (parts_ & kUsageAccount) key.account = whose.account;
    if (parts_ & kUsageUser) key.user = whose.user;
    if (parts_ & kUsageQos) key.qos = whose.qos;
    if (parts_ & kUsageWckey) key.wckey = whose.wckey;
    if (parts_ & kUsagePartition) key.partition = whose.partition;
    key.wasted = (parts_ & kUsageWasted) && whose.wasted;
    some.entries.push_back({std::move(key), entry.used});
  }
  sum_.add(some);
}

Usage UsageSelection::take() { return sum_.take(); }

std::vector<UsageStretch> stretches(Time from, Time until, Time rolled) {
  std::vector<UsageStretch> out;
  auto put = [&](UsagePeriod period, Time begin, Time end) {
    if (end <= begin) return;
    if (!out.empty() && out.back().period == period && out.back().until == begin) out.back().until = end;
    else out.push_back({period, begin, end});
  };
  const Time whole = std::min(until, rolled);  // periods that are over by then have a roll-up
  // As far as whole periods go within [a, b), and the rest at both ends by the next shorter one.
  auto fill = [&](auto& self, UsagePeriod period, Time a, Time b) -> void {
    if (period == UsagePeriod::kHour) return put(period, a, b);
    Time begin = period_begin(period, a);
    if (begin < a) begin = period_after(period, begin);
    Time end = begin;
    while (end < b && period_after(period, end) <= std::min(b, whole)) end = period_after(period, end);
    const auto shorter = static_cast<UsagePeriod>(static_cast<uint8_t>(period) - 1);
    if (end <= begin) return self(self, shorter, a, b);
    self(self, shorter, a, begin);
    put(period, begin, end);
    self(self, shorter, end, b);
  };
  if (from < until) fill(fill, UsagePeriod::kMonth, from, until);
  return out;
}

}  // namespace muster::slurmdbd
