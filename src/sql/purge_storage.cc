// Purging: what is deleted by its age, what of it comes back, and from when on records are whole.
#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "sql/columns.h"
#include "sql/storage.h"
#include "sql/stored_records.h"
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

constexpr KindRule rule_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::kJobs:
      return {"SELECT cluster FROM muster_jobs WHERE cluster > ? ORDER BY cluster LIMIT 1",
              // Not what a run held before it gave up nodes, as long as that run goes on (kNotEnded).
              "SELECT job, cluster, submitted, restarts FROM muster_jobs WHERE cluster = ? AND ended < ? AND NOT EXISTS(SELECT 1 FROM"
              " muster_jobs later WHERE later.job = muster_jobs.job AND later.cluster = muster_jobs.cluster AND"
              " later.submitted > muster_jobs.submitted AND later.restarts = muster_jobs.restarts AND"
              " later.ended = 9223372036854775807) ORDER BY ended LIMIT ?",
              "DELETE FROM muster_jobs WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?", "ntnn"};
    case RecordKind::kSteps:
      return {nullptr,
              "SELECT job, cluster, submitted, restarts, step FROM muster_steps WHERE ended >= 0 AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ? AND step = ?", "ntnnn"};
    case RecordKind::kEvents:
      return {"SELECT cluster FROM muster_events WHERE cluster > ? ORDER BY cluster LIMIT 1",
              "SELECT cluster, node, started FROM muster_events WHERE cluster = ? AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_events WHERE cluster = ? AND node = ? AND started = ?", "ttn"};
    case RecordKind::kReservations:
      return {"SELECT cluster FROM muster_reservations WHERE cluster > ? ORDER BY cluster LIMIT 1",
              "SELECT cluster, number, started FROM muster_reservations WHERE cluster = ? AND ended < ? ORDER BY ended LIMIT ?",
              "DELETE FROM muster_reservations WHERE cluster = ? AND number = ? AND started = ?", "tnn"};
    case RecordKind::kTransactions:
      return {nullptr, "SELECT id FROM muster_transactions WHERE time < ? ORDER BY time LIMIT ?",
              "DELETE FROM muster_transactions WHERE id = ?", "n"};
    case RecordKind::kScripts:  // content_storage.cc finds and deletes these
      return {"SELECT cluster FROM muster_job_contents WHERE kind = 0 AND cluster > ? ORDER BY cluster LIMIT 1", nullptr, nullptr, {}};
    case RecordKind::kEnvironments:
      return {"SELECT cluster FROM muster_job_contents WHERE kind = 1 AND cluster > ? ORDER BY cluster LIMIT 1", nullptr, nullptr, {}};
    case RecordKind::kUsage: break;
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
  constexpr KindRule kRule = rule_of(RecordKind::kUsage);
  std::vector<Key> keys;
  for (UsagePeriod period : {UsagePeriod::kHour, UsagePeriod::kDay, UsagePeriod::kMonth}) {
    const Value values[] = {name_of(cluster), static_cast<int64_t>(period), number_of(period_begin(period, before)),
                            static_cast<int64_t>(most_rows - keys.size())};
    MUSTER_TRY(found, find_keys(connection, kRule.find, values, kRule.key));
    std::ranges::move(found, std::back_inserter(keys));
  }
  return keys;
}

Result<std::vector<Key>> find_old(Connection& connection, RecordKind kind, const std::string& cluster, Time before, size_t most_rows) {
  if (kind == RecordKind::kUsage) return find_usage(connection, cluster, before, most_rows);
  const KindRule rule = rule_of(kind);
  std::vector<Value> values = {number_of(before), static_cast<int64_t>(most_rows)};
  if (rule.clusters) values.insert(values.begin(), name_of(cluster));
  return find_keys(connection, rule.find, values, rule.key);
}

// Finds steps of one job, at most `room` of them.
Result<std::vector<Key>> find_steps_of(Connection& connection, const Key& job, size_t room) {
  std::vector<Value> values = values_of(job);
  values.emplace_back(static_cast<int64_t>(room));
  return find_keys(connection,
                   "SELECT job, cluster, submitted, restarts, step FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ?"
                   " AND restarts = ? LIMIT ?",
                   values, "ntnnn");
}

// The statement that asks for `columns` of the row which the rule's `erase` would delete.
std::string ask_for(RecordKind kind, std::string_view columns) {
  return "SELECT " + std::string(columns) + std::string(rule_of(kind).erase).substr(std::string_view("DELETE").size());
}

// Hands rows to a keeper in parts of one cluster and bounded size.
class Handing {
 public:
  explicit Handing(RowKeeper& keeper) : keeper_(keeper) {}

  // The columns that add() reads.
  static std::string_view columns_of(RecordKind kind) {
    if (kind == RecordKind::kJobs) return kJobColumns;
    return kind == RecordKind::kSteps ? "record, step, position, ended, record" : "record";
  }
  Result<> add(RecordKind kind, const Key& key, const Row& row) {
    const std::string_view record = row.bytes(0);
    const std::string cluster = cluster_of(kind, key);
    if (cluster != part_.cluster || bytes_ >= kPartBytes / 4 || part_.records() >= kMostInPart) MUSTER_TRY_VOID(hand_over());
    part_.cluster = cluster;
    bytes_ += record.size();
    switch (kind) {
      case RecordKind::kJobs: return read_job(row, 0, part_.jobs.emplace_back());
      case RecordKind::kSteps: return read_step(row, 1, job_in(key), part_.steps.emplace_back());
      case RecordKind::kEvents: return read(record, part_.events.emplace_back());
      case RecordKind::kReservations: return read(record, part_.reservations.emplace_back());
      case RecordKind::kTransactions: {
        TransactionRecord& transaction = part_.transactions.emplace_back();
        MUSTER_TRY_VOID(read(record, transaction));
        transaction.id = static_cast<uint64_t>(std::get<int64_t>(key[0]));
        return {};
      }
      case RecordKind::kScripts:
      case RecordKind::kEnvironments: return {};  // content_storage.cc hands these over
      case RecordKind::kUsage: break;
    }
    ArchivedUsage& usage = part_.usage.emplace_back();
    usage.period = static_cast<UsagePeriod>(std::get<int64_t>(key[1]));
    usage.at = Time(Duration(std::get<int64_t>(key[2])));
    usage.part = static_cast<uint32_t>(std::get<int64_t>(key[3]));
    return read(record, usage.usage);
  }
  Result<> hand_over() {
    bytes_ = 0;
    ArchivePart part = std::exchange(part_, {});
    return part.records() ? keeper_.keep(std::move(part)) : Result<>();
  }

 private:
  static constexpr size_t kMostInPart = 500;
  static std::string cluster_of(RecordKind kind, const Key& key) {
    if (kind == RecordKind::kTransactions) return {};
    return std::get<std::string>(key[kind == RecordKind::kJobs || kind == RecordKind::kSteps ? 1 : 0]);
  }
  static JobRecordKey job_in(const Key& key) {
    return {JobId(static_cast<uint32_t>(std::get<int64_t>(key[0]))), Time(Duration(std::get<int64_t>(key[2]))),
            static_cast<uint32_t>(std::get<int64_t>(key[3]))};
  }
  template <class Record>
  static Result<> read(std::string_view record, Record& out) {
    return wire::decode(record, out, wire::kOfOurOwn);
  }
  RowKeeper& keeper_;
  ArchivePart part_;
  size_t bytes_ = 0;
};

struct Rows {
  RecordKind kind;
  std::vector<Key> keys;
};

// Deletes rows, once the keeper has them.
Result<> take_away(Connection& connection, std::span<const Rows> all, RowKeeper* keeper) {
  if (keeper) {
    Handing handing(*keeper);
    for (const Rows& rows : all) {
      const std::string statement = ask_for(rows.kind, Handing::columns_of(rows.kind));
      for (const Key& key : rows.keys)
        MUSTER_TRY_VOID(connection.query(statement, values_of(key), [&](const Row& row) { return handing.add(rows.kind, key, row); }));
    }
    MUSTER_TRY_VOID(handing.hand_over());
    MUSTER_TRY_VOID(keeper->make_durable());
  }
  for (const Rows& rows : all) MUSTER_TRY_VOID(erase_all(connection, rule_of(rows.kind).erase, rows.keys));
  return {};
}

std::vector<Value> job_key(const JobRecordKey& key, const std::string& cluster) {
  return {int64_t{key.id.value}, name_of(cluster), number_of(key.submitted), int64_t{key.restarts}};
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

Result<std::vector<std::string>> Storage::recorded_clusters(RecordKind kind) {
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

Result<Purged> Storage::purge(RecordKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper) {
  const Archiving for_this(*connection_);
  Result<Purged> purged;
  MUSTER_TRY_VOID(in_transaction(*connection_, [&]() -> Result<> {
    switch (kind) {
      case RecordKind::kJobs: purged = purge_jobs(cluster, before, most_rows, keeper); break;
      case RecordKind::kScripts: purged = purge_contents(ContentKind::kScript, cluster, before, most_rows, keeper); break;
      case RecordKind::kEnvironments: purged = purge_contents(ContentKind::kEnvironment, cluster, before, most_rows, keeper); break;
      default: purged = purge_rows(kind, cluster, before, most_rows, keeper);
    }
    return purged ? Result<>() : std::unexpected(purged.error());
  }));
  return purged;
}

Result<Purged> Storage::purge_rows(RecordKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper) {
  if (kind == RecordKind::kSteps) {
    MUSTER_TRY(looked_at, look_into_steps(most_rows));
    if (looked_at > 0) return Purged{0, true};
  }
  MUSTER_TRY(keys, find_old(*connection_, kind, cluster, before, most_rows));
  const Purged purged{keys.size(), keys.size() >= most_rows};
  if (keys.empty()) return purged;
  if (rule_of(kind).clusters) MUSTER_TRY_VOID(raise_whole_from(cluster, before));
  if (kind == RecordKind::kUsage) {
    const Value values[] = {number_of(before), name_of(cluster), number_of(before)};
    MUSTER_TRY_VOID(connection_->run("UPDATE muster_usage_state SET first = ? WHERE cluster = ? AND first < ?", values));
  }
  const Rows rows[] = {{kind, std::move(keys)}};
  MUSTER_TRY_VOID(take_away(*connection_, rows, keeper));
  return purged;
}

// A job goes after its last step, so that one with more steps than a transaction takes is found again.
Result<Purged> Storage::purge_jobs(const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper) {
  MUSTER_TRY(old, find_old(*connection_, RecordKind::kJobs, cluster, before, most_rows));
  if (old.empty()) return Purged{};
  MUSTER_TRY_VOID(raise_whole_from(cluster, before));
  Rows gone[] = {{RecordKind::kSteps, {}}, {RecordKind::kJobs, {}}};
  Rows &steps = gone[0], &jobs = gone[1];
  auto room = [&] { return most_rows - steps.keys.size() - jobs.keys.size(); };
  for (const Key& job : old) {
    MUSTER_TRY(some, find_steps_of(*connection_, job, room()));
    std::ranges::move(some, std::back_inserter(steps.keys));
    if (!room()) break;
    jobs.keys.push_back(job);
    if (!room()) break;
  }
  const Purged purged{jobs.keys.size(), !room()};
  MUSTER_TRY_VOID(take_away(*connection_, gone, keeper));
  return purged;
}

Result<> Storage::raise_whole_from(const std::string& cluster, Time before) {
  MUSTER_TRY(whole, whole_from(cluster));
  if (whole >= before) return {};
  const Value values[] = {name_of(cluster), number_of(before)};
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_purged WHERE cluster = ?", std::span(values).first(1)));
  return connection_->run("INSERT INTO muster_purged(cluster, whole_from) VALUES(?,?)", values);
}

// ---- what comes back
Result<bool> Storage::is_there(RecordKind kind, Values key) {
  bool there = false;
  MUSTER_TRY_VOID(connection_->query(ask_for(kind, "1"), key, [&](const Row&) -> Result<> {
    there = true;
    return {};
  }));
  return there;
}

Result<> Storage::restore(const ArchivePart& part, Restored& counts) {
  const Archiving for_this(*connection_);
  const std::string& cluster = part.cluster;
  std::vector<Span> changed;
  auto each = [&](const auto& records, RecordKind kind, auto key_of, auto store) -> Result<> {
    for (const auto& record : records) {
      MUSTER_TRY(there, is_there(kind, key_of(record)));
      if (!there) MUSTER_TRY_VOID(store(record));
      ++(there ? counts.known : counts.added);
    }
    return {};
  };
  MUSTER_TRY_VOID(each(
      part.jobs, RecordKind::kJobs, [&](const JobRecord& job) { return job_key(job.key, cluster); },
      [&](const JobRecord& job) { return store_job(cluster, job, false, changed); }));
  MUSTER_TRY_VOID(each(
      part.steps, RecordKind::kSteps,
      [&](const StepRecord& step) {
        std::vector<Value> key = job_key(step.job, cluster);
        key.emplace_back(int64_t{step.id.value});
        return key;
      },
      [&](const StepRecord& step) { return store_step(cluster, step, changed); }));
  MUSTER_TRY_VOID(each(
      part.events, RecordKind::kEvents,
      [&](const EventRecord& event) {
        return std::vector<Value>{name_of(cluster), name_of(event.node), number_of(event.started)};
      },
      [&](const EventRecord& event) { return store_event(cluster, event, changed); }));
  MUSTER_TRY_VOID(each(
      part.reservations, RecordKind::kReservations,
      [&](const ReservationRecord& held) {
        return std::vector<Value>{name_of(cluster), int64_t{held.id}, number_of(held.started)};
      },
      [&](const ReservationRecord& held) { return store_reservation(cluster, held, changed); }));
  for (const TransactionRecord& transaction : part.transactions) MUSTER_TRY_VOID(restore_transaction(transaction, counts));
  MUSTER_TRY_VOID(restore_usage(cluster, part.usage, counts));
  for (const ArchivedContent& content : part.contents) MUSTER_TRY_VOID(restore_content(cluster, content, counts));
  return mark_changed(cluster, std::move(changed));
}

// Numbers of transactions may have been given again, so one is known by what it says.
Result<> Storage::restore_transaction(const TransactionRecord& transaction, Restored& counts) {
  TransactionRecord told = transaction;
  told.id = 0;
  const std::string bytes = wire::encoded(told);
  const Value values[] = {number_of(told.time), name_of(told.actor), Bytes{bytes}};
  bool there = false;
  MUSTER_TRY_VOID(connection_->query("SELECT record FROM muster_transactions WHERE time = ? AND actor = ?", std::span(values).first(2),
                                     [&](const Row& row) -> Result<> {
                                       TransactionRecord other;
                                       MUSTER_TRY_VOID(wire::decode(row.bytes(0), other, wire::kOfOurOwn));
                                       other.id = 0;
                                       there = there || wire::encoded(other) == bytes;
                                       return {};
                                     }));
  ++(there ? counts.known : counts.added);
  return there ? Result<>() : connection_->run("INSERT INTO muster_transactions(time, actor, record) VALUES(?,?,?)", values);
}

// Reports begin with the first hour that is rolled up: rows of earlier ones are shown again from theirs on. That time is not counted again
// from the records that came back beside them.
Result<> Storage::restore_usage(const std::string& cluster, const std::vector<ArchivedUsage>& rows, Restored& counts) {
  Time first = kTimeInfinite, last{};
  for (const ArchivedUsage& row : rows) {
    const Value key[] = {name_of(cluster), static_cast<int64_t>(row.period), number_of(row.at), int64_t{row.part}};
    MUSTER_TRY(there, is_there(RecordKind::kUsage, key));
    ++(there ? counts.known : counts.added);
    if (there) continue;
    const std::string bytes = wire::encoded(row.usage);
    std::vector<Value> values(std::begin(key), std::end(key));
    values.emplace_back(Bytes{bytes});
    MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_usage(cluster, period, at, part, record) VALUES(?,?,?,?,?)", values));
    first = std::min(first, row.at);
    last = std::max(last, period_after(row.period, row.at));
  }
  if (first == kTimeInfinite) return {};
  MUSTER_TRY_VOID(raise_whole_from(cluster, last));
  MUSTER_TRY(state, usage_state(cluster));
  const bool none = state.first == kTimeUnset;
  if (!none && state.first <= first) return {};
  if (none) {
    const Value values[] = {name_of(cluster), number_of(first), number_of(last)};
    return connection_->run("INSERT INTO muster_usage_state(cluster, first, rolled) VALUES(?,?,?)", values);
  }
  const Value values[] = {number_of(first), name_of(cluster)};
  return connection_->run("UPDATE muster_usage_state SET first = ? WHERE cluster = ?", values);
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
