// Purging: what is deleted by its age, and from when on records are whole.
#include <algorithm>
#include <array>
#include <variant>

#include "sql/columns.h"
#include "sql/storage.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

using Key = std::vector<std::variant<int64_t, std::string>>;

// How a kind of row is found by its age and deleted by its key.
struct KindRule {
  const char* clusters;  // the next cluster that has such rows; nullptr: they are not purged by cluster
  const char* find;      // the keys of rows that ended before a time, the earliest first
  const char* erase;     // one row by its key
  std::string_view key;  // its columns: t a text, n a number
};

constexpr KindRule rule_of(PurgeKind kind) {
  switch (kind) {
    case PurgeKind::kJobs:
      return {"SELECT cluster FROM muster_jobs WHERE cluster > ? ORDER BY cluster LIMIT 1",
              "SELECT job, cluster, submitted, restarts FROM muster_jobs WHERE cluster = ? AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_jobs WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?", "ntnn"};
    case PurgeKind::kSteps:
      return {nullptr,
              "SELECT job, cluster, submitted, restarts, step FROM muster_steps WHERE ended >= 0 AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ? AND step = ?", "ntnnn"};
    case PurgeKind::kEvents:
      return {"SELECT cluster FROM muster_events WHERE cluster > ? ORDER BY cluster LIMIT 1",
              "SELECT cluster, node, started FROM muster_events WHERE cluster = ? AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_events WHERE cluster = ? AND node = ? AND started = ?", "ttn"};
    case PurgeKind::kReservations:
      return {"SELECT cluster FROM muster_reservations WHERE cluster > ? ORDER BY cluster LIMIT 1",
              "SELECT cluster, number, started FROM muster_reservations WHERE cluster = ? AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_reservations WHERE cluster = ? AND number = ? AND started = ?", "tnn"};
    case PurgeKind::kTransactions:
      return {nullptr, "SELECT id FROM muster_transactions WHERE time < ? ORDER BY time LIMIT ?",
              "DELETE FROM muster_transactions WHERE id = ?", "n"};
    case PurgeKind::kUsage: break;
  }
  return {"SELECT cluster FROM muster_usage WHERE cluster > ? ORDER BY cluster LIMIT 1",
          "SELECT cluster, period, at, part FROM muster_usage WHERE cluster = ? AND period = ? AND at < ? ORDER BY at LIMIT ?",
          "DELETE FROM muster_usage WHERE cluster = ? AND period = ? AND at = ? AND part = ?", "tnnn"};
}

std::vector<Value> values_of(const Key& key) {
  std::vector<Value> out;
  for (const auto& part : key) {
    if (auto* number = std::get_if<int64_t>(&part)) out.emplace_back(*number);
    else out.emplace_back(Text{std::get<std::string>(part)});
  }
  return out;
}

Key key_in(const Row& row, std::string_view columns) {
  Key key;
  for (int i = 0; char column : columns) {
    if (column == 'n') key.emplace_back(row.number(i));
    else key.emplace_back(std::string(row.bytes(i)));
    ++i;
  }
  return key;
}

Result<std::vector<Key>> find_keys(Connection& connection, const char* find, Values values, std::string_view columns) {
  std::vector<Key> keys;
  MUSTER_TRY_VOID(connection.query(find, values, [&](const Row& row) -> Result<> {
    keys.push_back(key_in(row, columns));
    return {};
  }));
  return keys;
}

Result<> erase_all(Connection& connection, const char* erase, const std::vector<Key>& keys) {
  for (const Key& key : keys) MUSTER_TRY_VOID(connection.run(erase, values_of(key)));
  return {};
}

// Of roll-ups, those of each period that are over by `before`.
Result<std::vector<Key>> find_usage(Connection& connection, const std::string& cluster, Time before, size_t most_rows) {
  constexpr KindRule kRule = rule_of(PurgeKind::kUsage);
  std::vector<Key> keys;
  for (UsagePeriod period : {UsagePeriod::kHour, UsagePeriod::kDay, UsagePeriod::kMonth}) {
    const Value values[] = {name_of(cluster), static_cast<int64_t>(period), number_of(period_begin(period, before)),
                            static_cast<int64_t>(most_rows - keys.size())};
    MUSTER_TRY(found, find_keys(connection, kRule.find, values, kRule.key));
    std::ranges::move(found, std::back_inserter(keys));
  }
  return keys;
}

Result<std::vector<Key>> find_old(Connection& connection, PurgeKind kind, const std::string& cluster, Time before, size_t most_rows) {
  if (kind == PurgeKind::kUsage) return find_usage(connection, cluster, before, most_rows);
  const KindRule rule = rule_of(kind);
  std::vector<Value> values = {number_of(before), static_cast<int64_t>(most_rows)};
  if (rule.clusters) values.insert(values.begin(), name_of(cluster));
  return find_keys(connection, rule.find, values, rule.key);
}

// Deletes steps of one job, at most `room` of them. Returns how many.
Result<size_t> erase_steps_of(Connection& connection, const Key& job, size_t room) {
  std::vector<Value> values = values_of(job);
  values.emplace_back(static_cast<int64_t>(room));
  MUSTER_TRY(keys,
             find_keys(connection,
                       "SELECT job, cluster, submitted, restarts, step FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ?"
                       " AND restarts = ? LIMIT ?",
                       values, "ntnnn"));
  MUSTER_TRY_VOID(erase_all(connection, rule_of(PurgeKind::kSteps).erase, keys));
  return keys.size();
}

}  // namespace

Result<Time> Storage::whole_from(const std::string& cluster) {
  Time whole{};
  const Value key[] = {name_of(cluster)};
  MUSTER_TRY_VOID(connection_->query("SELECT whole_from FROM muster_purged WHERE cluster = ?", key, [&](const Row& row) -> Result<> {
    whole = Time(Duration(row.number(0)));
    return {};
  }));
  return whole;
}

Result<std::vector<std::string>> Storage::recorded_clusters(PurgeKind kind) {
  const KindRule rule = rule_of(kind);
  if (!rule.clusters) return std::vector<std::string>{""};
  std::vector<std::string> out;
  std::string after;  // no cluster has an empty name
  do {
    const Value values[] = {name_of(after)};
    std::string next;
    MUSTER_TRY_VOID(connection_->query(rule.clusters, values, [&](const Row& row) -> Result<> {
      next = row.bytes(0);
      return {};
    }));
    if (!next.empty()) out.push_back(next);
    after = std::move(next);
  } while (!after.empty());
  return out;
}

Result<Purged> Storage::purge(PurgeKind kind, const std::string& cluster, Time before, size_t most_rows) {
  Result<Purged> purged;
  MUSTER_TRY_VOID(in_transaction(*connection_, [&]() -> Result<> {
    purged = kind == PurgeKind::kJobs ? purge_jobs(cluster, before, most_rows) : purge_rows(kind, cluster, before, most_rows);
    return purged ? Result<>() : std::unexpected(purged.error());
  }));
  return purged;
}

Result<Purged> Storage::purge_rows(PurgeKind kind, const std::string& cluster, Time before, size_t most_rows) {
  if (kind == PurgeKind::kSteps) {
    MUSTER_TRY(looked_at, look_into_steps(most_rows));
    if (looked_at > 0) return Purged{0, true};
  }
  MUSTER_TRY(keys, find_old(*connection_, kind, cluster, before, most_rows));
  const KindRule rule = rule_of(kind);
  if (!keys.empty() && rule.clusters) MUSTER_TRY_VOID(raise_whole_from(cluster, before));
  if (!keys.empty() && kind == PurgeKind::kUsage) {
    const Value values[] = {number_of(before), name_of(cluster), number_of(before)};
    MUSTER_TRY_VOID(connection_->run("UPDATE muster_usage_state SET first = ? WHERE cluster = ? AND first < ?", values));
  }
  MUSTER_TRY_VOID(erase_all(*connection_, rule.erase, keys));
  return Purged{keys.size(), keys.size() >= most_rows};
}

// A job goes after its last step, so that one with more steps than a transaction takes is found again.
Result<Purged> Storage::purge_jobs(const std::string& cluster, Time before, size_t most_rows) {
  MUSTER_TRY(jobs, find_old(*connection_, PurgeKind::kJobs, cluster, before, most_rows));
  if (!jobs.empty()) MUSTER_TRY_VOID(raise_whole_from(cluster, before));
  Purged purged;
  size_t rows = 0;
  for (const Key& job : jobs) {
    MUSTER_TRY(steps, erase_steps_of(*connection_, job, most_rows - rows));
    rows += steps;
    if (rows >= most_rows) break;
    MUSTER_TRY_VOID(connection_->run(rule_of(PurgeKind::kJobs).erase, values_of(job)));
    ++purged.records;
    if (++rows >= most_rows) break;
  }
  purged.more = rows >= most_rows;
  return purged;
}

Result<> Storage::raise_whole_from(const std::string& cluster, Time before) {
  MUSTER_TRY(whole, whole_from(cluster));
  if (whole >= before) return {};
  const Value values[] = {name_of(cluster), number_of(before)};
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_purged WHERE cluster = ?", std::span(values).first(1)));
  return connection_->run("INSERT INTO muster_purged(cluster, whole_from) VALUES(?,?)", values);
}

// Fills in the column `ended` of steps that an older schema stored without it. Returns of how many.
Result<size_t> Storage::look_into_steps(size_t most_rows) {
  std::vector<std::pair<Key, int64_t>> ends;
  const Value values[] = {static_cast<int64_t>(most_rows)};
  MUSTER_TRY_VOID(connection_->query("SELECT job, cluster, submitted, restarts, step, record FROM muster_steps WHERE ended = -1 LIMIT ?",
                                     values, [&](const Row& row) -> Result<> {
                                       StepRecord step;
                                       MUSTER_TRY_VOID(wire::decode(row.bytes(5), step, wire::kOfOurOwn));
                                       ends.emplace_back(key_in(row, "ntnnn"), end_number(step.ended));
                                       return {};
                                     }));
  for (const auto& [key, ended] : ends) {
    std::vector<Value> change = values_of(key);
    change.insert(change.begin(), ended);
    MUSTER_TRY_VOID(connection_->run(
        "UPDATE muster_steps SET ended = ? WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ? AND step = ?", change));
  }
  return ends.size();
}

}  // namespace muster::sql
