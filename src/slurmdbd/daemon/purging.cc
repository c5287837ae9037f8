#include "slurmdbd/daemon/purging.h"

#include <algorithm>

namespace muster::slurmdbd {
namespace {

struct KindRow {
  sql::PurgeKind kind;
  std::optional<config::PurgeAge> PurgeRules::*age;
  bool of_usage;  // roll-ups are made of them, or they are roll-ups
  const char* named;
};
constexpr KindRow kKinds[] = {
    {sql::PurgeKind::kJobs, &PurgeRules::jobs, true, "jobs that ended"},
    {sql::PurgeKind::kSteps, &PurgeRules::steps, false, "steps that ended"},
    {sql::PurgeKind::kEvents, &PurgeRules::events, true, "events that ended"},
    {sql::PurgeKind::kReservations, &PurgeRules::reservations, true, "reservations that ended"},
    {sql::PurgeKind::kTransactions, &PurgeRules::transactions, false, "transactions"},
    {sql::PurgeKind::kUsage, &PurgeRules::usage, true, "rows of usage"},
};

const char* named(sql::PurgeKind kind) { return std::ranges::find(kKinds, kind, &KindRow::kind)->named; }

}  // namespace

// Time of which a roll-up is due, for the first time or again, needs its records.
Result<Time> Purging::rolled_until(const std::string& cluster) {
  MUSTER_TRY(state, storage_.usage_state(cluster));
  MUSTER_TRY(changed, storage_.changed_times(cluster));
  if (changed.empty()) return state.rolled;
  return std::min(state.rolled, period_begin(UsagePeriod::kHour, changed.front().from));
}

Result<> Purging::give_orders(const Settings& settings, const Directory& directory, Time now) {
  orders_.clear();
  roll_ups_behind_ = false;
  for (const KindRow& row : kKinds) {
    const std::optional<config::PurgeAge> age = settings.purge.*row.age;
    if (!age) continue;
    MUSTER_TRY(clusters, storage_.recorded_clusters(row.kind));
    for (std::string& cluster : clusters) {
      Time before = purge_before(*age, now);
      if (row.of_usage && settings.rolls_up && directory.clusters.contains(cluster)) {
        MUSTER_TRY(rolled, rolled_until(cluster));
        roll_ups_behind_ = roll_ups_behind_ || rolled < before;
        before = std::min(before, rolled);
      }
      orders_.push_back({row.kind, std::move(cluster), before});
    }
  }
  std::ranges::reverse(orders_);
  return {};
}

Time Purging::next_piece(const Settings& settings, const Directory& directory, Time now) {
  const Time next_hour = period_after(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now));
  auto failed = [&](const Error& error) {
    log_.error("old records are not purged: {}", error.message());
    orders_.clear();
    return next_hour;
  };
  if (orders_.empty())
    if (Result<> given = give_orders(settings, directory, now); !given) return failed(given.error());
  if (!orders_.empty()) {
    Order& order = orders_.back();
    const Result<sql::Purged> purged = storage_.purge(order.kind, order.cluster, order.before, settings.purge.most_rows);
    if (!purged) return failed(purged.error());
    order.gone += purged->records;
    if (purged->more) return now;
    if (order.gone > 0)
      log_.info("purged {} {} before {}{}", order.gone, named(order.kind), format_time(order.before),
                order.cluster.empty() ? "" : ", of cluster " + order.cluster);
    orders_.pop_back();
    if (!orders_.empty()) return now;
  }
  return roll_ups_behind_ ? std::min(next_hour, now + minutes(1)) : next_hour;
}

}  // namespace muster::slurmdbd
