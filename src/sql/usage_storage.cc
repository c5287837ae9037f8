// What Storage keeps for reports: roll-ups, which time has to be rolled again, events and reservations.
#include <algorithm>
#include <array>

#include "sql/columns.h"
#include "sql/record_filter.h"
#include "sql/storage.h"
#include "sql/stored_records.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

constexpr size_t kEntriesPerRow = 2000;  // some 400 kB: far below what MariaDB takes in one packet
constexpr size_t kRowsPerLook = 256;     // how often it is asked whether the answer is still wanted

// What used_runs() reads of a JobRecord: of the stored record the fields below by the same numbers, the rest is unknown to it and skipped, and
// some columns (stored_records.h). What the run had stays encoded, since few distinct amounts are shared by many runs.
struct RunInBrief {
  std::string cluster, account, wckey;  // in the record where a column does not hold them whole
  Time suspended{};
  Duration suspended_total{};
  JobState state = JobState::kPending;
  Time submitted{}, started{}, ended{};
  std::string amounts, amounts_as_text;  // the text: of records older than TresAmounts
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(3, "cluster", self.cluster);
    field(14, "suspended", self.suspended);
    field(15, "suspended_total", self.suspended_total);
    field(22, "account", self.account);
    field(24, "wckey", self.wckey);
    field(50, "tres_allocated", self.amounts_as_text);
    field(91, "tres_allocated", self.amounts);
  }
  // From "record, cluster, account, wckey, state, submitted, started, ended".
  Result<> read(const Row& row) {
    MUSTER_TRY_VOID(wire::decode(row.bytes(0), *this, wire::kOfOurOwn));
    int at = 0;
    for (std::string* name : {&cluster, &account, &wckey})
      if (++at; name->empty()) *name = row.bytes(at);
    state = static_cast<JobState>(row.number(4));
    submitted = Time(Duration(row.number(5)));
    started = Time(Duration(row.number(6)));
    ended = time_of(row.number(7));
    return {};
  }
  // The times as a record, for the rules of model/usage_time.h. One object serves many runs: making one costs as much as reading this.
  void times_into(JobRecord& record) const {
    record.state = state;
    record.started = started;
    record.ended = ended;
    record.suspended = suspended;
    record.suspended_total = suspended_total;
  }
};

}  // namespace

Result<UsageState> Storage::usage_state(const std::string& cluster) {
  UsageState out;
  const Value key[] = {name_of(cluster)};
  MUSTER_TRY_VOID(
      connection_->query("SELECT first, rolled FROM muster_usage_state WHERE cluster = ?", key, [&](const Row& row) -> Result<> {
        out = {time_of(row.number(0)), time_of(row.number(1))};
        return {};
      }));
  return out;
}

// ---- which time is to be rolled again
Result<> Storage::mark_changed(const std::string& cluster, std::vector<Span> spans) {
  if (spans.empty()) return {};
  MUSTER_TRY(state, usage_state(cluster));
  MUSTER_TRY(whole, whole_from(cluster));
  // What is not rolled yet will be. What has been purged cannot be counted again: its roll-ups stay as they are.
  for (Span& s : spans) s = {std::max(s.from, whole), std::min(s.until, state.rolled)};
  for (const Span& s : united(std::move(spans))) {
    const Value values[] = {name_of(cluster), number_of(s.from), number_of(s.until)};
    MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_usage_changed(cluster, began, ended) VALUES(?,?,?)", values));
  }
  return {};
}

Result<std::vector<Span>> Storage::changed_times(const std::string& cluster) {
  std::vector<Span> out;
  const Value key[] = {name_of(cluster)};
  MUSTER_TRY_VOID(
      connection_->scan("SELECT began, ended FROM muster_usage_changed WHERE cluster = ?", key, [&](const Row& row) -> Result<> {
        out.push_back({Time(Duration(row.number(0))), Time(Duration(row.number(1)))});
        if (out.size() % 65'536 == 0) out = united(std::move(out));
        return {};
      }));
  return united(std::move(out));
}

// ---- roll-ups
Result<> Storage::put_usage(const std::string& cluster, const UsageBatch& batch) {
  return in_transaction(*connection_, [&]() -> Result<> {
    for (const UsageRow& r : batch.rows) MUSTER_TRY_VOID(put_usage_row(cluster, r));
    const Value key[] = {name_of(cluster)};
    MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_usage_changed WHERE cluster = ?", key));
    for (const Span& s : batch.still_changed) {
      const Value values[] = {name_of(cluster), number_of(s.from), number_of(s.until)};
      MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_usage_changed(cluster, began, ended) VALUES(?,?,?)", values));
    }
    MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_usage_state WHERE cluster = ?", key));
    const Value state[] = {name_of(cluster), number_of(batch.state.first), number_of(batch.state.rolled)};
    return connection_->run("INSERT INTO muster_usage_state(cluster, first, rolled) VALUES(?,?,?)", state);
  });
}

Result<> Storage::put_usage_row(const std::string& cluster, const UsageRow& row) {
  const Value key[] = {name_of(cluster), static_cast<int64_t>(row.period), number_of(row.at)};
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_usage WHERE cluster = ? AND period = ? AND at = ?", key));
  if (row.usage == Usage()) return {};
  for (size_t first = 0, part = 0; part == 0 || first < row.usage.entries.size(); first += kEntriesPerRow, ++part) {
    Usage some;
    if (part == 0) some.cluster = row.usage.cluster;
    const size_t last = std::min(first + kEntriesPerRow, row.usage.entries.size());
    some.entries.assign(row.usage.entries.begin() + static_cast<ptrdiff_t>(first),
                        row.usage.entries.begin() + static_cast<ptrdiff_t>(last));
    const std::string bytes = wire::encoded(some);
    const Value values[] = {name_of(cluster), static_cast<int64_t>(row.period), number_of(row.at), static_cast<int64_t>(part),
                            Bytes{bytes}};
    MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_usage(cluster, period, at, part, record) VALUES(?,?,?,?,?)", values));
  }
  return {};
}

Result<> Storage::load_usage(const std::string& cluster, UsagePeriod period, Time from, Time until,
                             const std::function<Result<>(Time, const Usage&)>& each) {
  const Value values[] = {name_of(cluster), static_cast<int64_t>(period), number_of(from), number_of(until)};
  return connection_->scan("SELECT at, record FROM muster_usage WHERE cluster = ? AND period = ? AND at >= ? AND at < ? ORDER BY at, part",
                           values, [&](const Row& row) -> Result<> {
                             Usage usage;
                             MUSTER_TRY_VOID(wire::decode(row.bytes(1), usage, wire::kOfOurOwn));
                             return each(Time(Duration(row.number(0))), usage);
                           });
}

Result<> Storage::jobs_within(const std::string& cluster, Time from, Time until,
                              const std::function<Result<>(const JobRecord&, uint64_t joules)>& each) {
  const Value values[] = {name_of(cluster), number_of(from), number_of(until)};
  static const std::string kStatement =
      "SELECT energy, " + std::string(kJobColumns) + " FROM muster_jobs WHERE cluster = ? AND ended > ? AND submitted < ?";
  return connection_->scan(kStatement, values, [&](const Row& row) -> Result<> {
    JobRecord record;
    MUSTER_TRY_VOID(read_job(row, 1, record));
    return each(record, static_cast<uint64_t>(row.number(0)));
  });
}

Result<> Storage::matching_jobs(const rpc::JobRecordFilter& filter, const RecordAudience& audience,
                                const std::function<bool()>& still_wanted, const std::function<Result<>(const JobRecord&)>& each) {
  MUSTER_TRY(rule, RecordRule::make(filter));
  Where where = where_of(filter, audience);
  size_t looked_at = 0;
  const std::string statement = "SELECT " + std::string(kJobColumns) + " FROM muster_jobs" + where.text;
  return connection_->scan(statement, where.values, [&](const Row& row) -> Result<> {
    if (looked_at++ % kRowsPerLook == 0 && still_wanted && !still_wanted()) return fail(Errc::kCommunicationFailed);
    JobRecord record;
    MUSTER_TRY_VOID(read_job(row, 0, record));
    return audience.sees(record.uid, record.cluster, record.account) && rule.matches(record) ? each(record) : Result<>();
  });
}

Result<> Storage::used_runs(const rpc::JobRecordFilter& filter, const RecordAudience& audience, const std::function<bool()>& still_wanted,
                            const std::function<Result<>(const UsedRun&)>& each) {
  if (needs_record(filter))
    return matching_jobs(filter, audience, still_wanted, [&](const JobRecord& j) {
      const std::string amounts = wire::encoded(j.tres_allocated);
      return each({j.cluster, j.account, j.wckey, used_span(j), amounts, j.resized() ? j.ended : kTimeUnset});
    });
  Where where = where_of(filter, audience);
  size_t looked_at = 0;
  RunInBrief run;
  JobRecord times;
  const std::string statement =
      "SELECT record, cluster, account, wckey, state, submitted, started, ended, uid FROM muster_jobs" + where.text;
  return connection_->scan(statement, where.values, [&](const Row& row) -> Result<> {
    if (looked_at++ % kRowsPerLook == 0 && still_wanted && !still_wanted()) return fail(Errc::kCommunicationFailed);
    MUSTER_TRY_VOID(run.read(row));
    if (!audience.sees(Uid(static_cast<uint32_t>(row.number(8))), run.cluster, run.account)) return {};
    if (!was_in_state(filter, run.state, run.submitted, run.started, run.ended)) return {};
    if (!run.amounts_as_text.empty() && run.amounts.empty()) run.amounts = wire::encoded(TresAmounts::from_text(run.amounts_as_text));
    run.times_into(times);
    return each({run.cluster, run.account, run.wckey, used_span(times), run.amounts, times.resized() ? times.ended : kTimeUnset});
  });
}

Result<Time> Storage::first_time(const std::string& cluster) {
  Time first = kTimeInfinite;
  auto least = [&](const char* statement) {
    const Value key[] = {name_of(cluster)};
    return connection_->query(statement, key, [&](const Row& row) -> Result<> {
      if (const int64_t n = row.number(0)) first = std::min(first, Time(Duration(n)));
      return {};
    });
  };
  MUSTER_TRY_VOID(least("SELECT MIN(submitted) FROM muster_jobs WHERE cluster = ?"));
  MUSTER_TRY_VOID(least("SELECT MIN(started) FROM muster_events WHERE cluster = ?"));
  return first;
}

// ---- events and reservations
Result<> Storage::store_event(const std::string& cluster, const EventRecord& event, std::vector<Span>& changed) {
  const Value key[] = {name_of(cluster), name_of(event.node), number_of(event.started)};
  std::optional<EventRecord> before;
  MUSTER_TRY_VOID(connection_->query("SELECT record FROM muster_events WHERE cluster = ? AND node = ? AND started = ?", key,
                                     [&](const Row& row) { return wire::decode(row.bytes(0), before.emplace(), wire::kOfOurOwn); }));
  if (before && before->position >= event.position && !event.node.empty()) return {};
  changed.push_back(changed_time(before ? &*before : nullptr, event));
  EventRecord whole = event;
  whole.cluster = cluster;
  const std::string bytes = wire::encoded(whole);
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_events WHERE cluster = ? AND node = ? AND started = ?", key));
  if (event.ended == event.started) return {};  // over as it began: a node that leaves the cluster is down for no time
  const Value values[] = {name_of(cluster), name_of(event.node), number_of(event.started), end_number(event.ended), Bytes{bytes}};
  return connection_->run("INSERT INTO muster_events(cluster, node, started, ended, record) VALUES(?,?,?,?,?)", values);
}

Result<> Storage::store_reservation(const std::string& cluster, const ReservationRecord& reservation, std::vector<Span>& changed) {
  const Value key[] = {name_of(cluster), int64_t{reservation.id}, number_of(reservation.started)};
  std::optional<ReservationRecord> before;
  MUSTER_TRY_VOID(connection_->query("SELECT record FROM muster_reservations WHERE cluster = ? AND number = ? AND started = ?", key,
                                     [&](const Row& row) { return wire::decode(row.bytes(0), before.emplace(), wire::kOfOurOwn); }));
  if (before && before->position >= reservation.position) return {};
  changed.push_back(changed_time(before ? &*before : nullptr, reservation));
  ReservationRecord whole = reservation;
  whole.cluster = cluster;
  const std::string bytes = wire::encoded(whole);
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_reservations WHERE cluster = ? AND number = ? AND started = ?", key));
  const Value values[] = {name_of(cluster), int64_t{reservation.id}, number_of(reservation.started), end_number(reservation.ended),
                          Bytes{bytes}};
  return connection_->run("INSERT INTO muster_reservations(cluster, number, started, ended, record) VALUES(?,?,?,?,?)", values);
}

Result<> Storage::store_cluster_events(const std::string& cluster, const std::vector<EventRecord>& events) {
  return in_transaction(*connection_, [&]() -> Result<> {
    std::vector<Span> changed;
    for (const EventRecord& e : events) MUSTER_TRY_VOID(store_event(cluster, e, changed));
    return mark_changed(cluster, std::move(changed));
  });
}

Result<> Storage::events_within(const std::string& cluster, Time from, Time until,
                                const std::function<Result<>(const EventRecord&)>& each) {
  const Value values[] = {name_of(cluster), number_of(from), number_of(until)};
  return connection_->scan("SELECT record FROM muster_events WHERE cluster = ? AND ended > ? AND started < ? ORDER BY started, node",
                           values, [&](const Row& row) -> Result<> {
                             EventRecord record;
                             MUSTER_TRY_VOID(wire::decode(row.bytes(0), record, wire::kOfOurOwn));
                             return each(record);
                           });
}

Result<> Storage::reservations_within(const std::string& cluster, Time from, Time until,
                                      const std::function<Result<>(const ReservationRecord&)>& each) {
  const Value values[] = {name_of(cluster), number_of(from), number_of(until)};
  return connection_->scan(
      "SELECT record FROM muster_reservations WHERE cluster = ? AND ended > ? AND started < ? ORDER BY started, number", values,
      [&](const Row& row) -> Result<> {
        ReservationRecord record;
        MUSTER_TRY_VOID(wire::decode(row.bytes(0), record, wire::kOfOurOwn));
        return each(record);
      });
}

}  // namespace muster::sql
