#include "acct/exhaustion.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "acct/limit_rows.h"
#include "base/saturating.h"
#include "model/account_directory.h"
#include "model/usage.h"

namespace muster::acct {
namespace {

constexpr double kMinute = 60, kMillion = 1e6;
constexpr double kFarthest = 1e9;  // seconds that are looked ahead

bool of_minutes(const Limit& l) { return l.kind == LimitKind::kGrpTresMins || l.kind == LimitKind::kGrpWall; }

const std::vector<Limit>* limits_of(const Cluster& cluster, const Holder& holder) {
  if (!cluster.directory) return nullptr;
  if (const AssociationRecord* a = cluster.directory->associations.find(holder.association()))
    return a->parent_id ? &a->limits : nullptr;  // not enforced on root
  const QosRecord* q = holder.qos().empty() ? nullptr : cluster.directory->qos.find(holder.qos());
  return q ? &q->limits : nullptr;
}

// 1, and what QOS make of the limits of associations.
std::set<double> factors(const Cluster& cluster, const Holder& holder) {
  std::set<double> out{1};
  if (holder.association())
    cluster.directory->qos.for_each([&](const std::string&, const QosRecord& q) {
      if (q.limit_factor && *q.limit_factor >= 0) out.insert(*q.limit_factor);
    });
  return out;
}

// Rounded up, so that the limit has been reached then.
Time after(Time now, double in_seconds) {
  if (in_seconds > kFarthest) return kTimeInfinite;
  return now + milliseconds(static_cast<int64_t>(std::floor(in_seconds * 1e3)) + 1);
}

double factor_of(const Cluster& cluster, const Job& job) {
  const QosRecord* q = cluster.directory ? cluster.directory->qos.find(job.request->qos) : nullptr;
  return q ? std::max(q->usage_factor.value_or(1), 0.0) : 1;
}

double run_seconds(const Job& job, Time now) {
  const Time until = job.state == JobState::kSuspended ? job.run->suspended : now;
  return std::max(0.0, static_cast<double>((until - job.started - job.run->suspended_total).count()) / kMillion);
}

}  // namespace

bool has_minutes(const Cluster& cluster, const Holder& holder) {
  const std::vector<Limit>* limits = limits_of(cluster, holder);
  return limits && std::ranges::any_of(*limits, of_minutes);
}

Time used_up_at(const Cluster& cluster, const Holder& holder, Time now) {
  if (!has_minutes(cluster, holder)) return kTimeInfinite;
  const UsageRate& rate = cluster.ledger.use_of(holder).rate;
  if (rate.none()) return kTimeInfinite;
  const Spent spent = cluster.used_by(holder, now);
  const Duration half_life = cluster.half_life_of(holder);
  Time first = kTimeInfinite;
  for (const Limit& l : *limits_of(cluster, holder)) {
    if (!of_minutes(l)) continue;
    const bool wall = l.kind == LimitKind::kGrpWall;
    const uint32_t tres = wall ? 0 : cluster.tres_table().find(l.tres);
    if (tres == TresTable::kUnknown) continue;
    for (double factor : wall ? std::set<double>{1} : factors(cluster, holder)) {
      const double limit = static_cast<double>(l.value) * factor * kMinute, used = wall ? spent.wall : spent.of(tres);
      const auto in = seconds_until(limit, used, static_cast<double>(wall ? rate.wall : rate.tres[tres]) / kMillion, half_life);
      if (in && used < limit) first = std::min(first, after(now, *in));
    }
  }
  return first;
}

std::optional<Excess> used_up(const std::vector<Bound>& bounds, const Cluster& cluster, const Job& job, Time now) {
  if (!job.allocation) return std::nullopt;
  const TresCounts held = counts_of(*job.allocation, cluster.tres_table());
  for (const Bound& b : bounds) {
    const bool own = b.row->counts == Counts::kOneJobMinutes;
    if (!b.row->of_usage() && !own) continue;
    if (b.row->per_tres() && held[b.tres] == 0) continue;
    const double used =
        own ? run_seconds(job, now) / kMinute * static_cast<double>(held[b.tres]) * factor_of(cluster, job) : minutes_used(b, cluster, now);
    if (used >= static_cast<double>(b.limit)) return Excess{&b, to_count(used), 0};
  }
  return std::nullopt;
}

Time uses_up_own_at(const std::vector<Bound>& bounds, const Cluster& cluster, const Job& job) {
  if (!job.allocation || job.state != JobState::kRunning) return kTimeInfinite;
  const TresCounts held = counts_of(*job.allocation, cluster.tres_table());
  Time first = kTimeInfinite;
  for (const Bound& b : bounds) {
    const double each_second = static_cast<double>(held[b.tres]) * factor_of(cluster, job);
    if (b.row->counts != Counts::kOneJobMinutes || each_second <= 0) continue;
    first = std::min(first, after(job.started + job.run->suspended_total, static_cast<double>(b.limit) * kMinute / each_second));
  }
  return first;
}

}  // namespace muster::acct
