#include "sql/storage.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/saturating.h"
#include "model/usage_time.h"
#include "sql/columns.h"
#include "sql/loaded_jobs.h"
#include "sql/record_filter.h"
#include "sql/schema.h"
#include "sql/stored_records.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

constexpr const char* kOfOneJob = " FROM muster_jobs WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?";
constexpr uint64_t kMostJoules = INT64_MAX;  // what a column holds
constexpr size_t kRowsPerLook = 256;         // how often it is asked whether the answer is still wanted

struct Found {
  const std::string* cluster = nullptr;  // points into a set that outlives it: there are few clusters
  int64_t head = 0, job = 0, submitted = 0, restarts = 0, number = 0;
  bool named = false;  // this run, and not only its job
  auto order() const { return std::tie(*cluster, head, job, submitted, restarts); }
  bool operator<(const Found& o) const { return order() < o.order(); }
};

// A controller does not know what sacctmgr modify job has set: that it has no such text takes none away. sacctmgr(1).
void keep_texts(const JobRecord& before, JobRecord& record) {
  for (std::string JobRecord::*text : {&JobRecord::comment, &JobRecord::admin_comment, &JobRecord::system_comment, &JobRecord::extra})
    if ((record.*text).empty()) record.*text = before.*text;
}

}  // namespace

Result<std::unique_ptr<Storage>> Storage::open(std::unique_ptr<Connection> connection) {
  MUSTER_TRY_VOID(prepare_schema(*connection));
  return std::unique_ptr<Storage>(new Storage(std::move(connection)));
}

Result<> Storage::store(const rpc::StoreRecords& m) {
  return in_transaction(*connection_, [&]() -> Result<> {
    std::vector<Span> changed;
    for (const JobRecord& r : m.jobs) MUSTER_TRY_VOID(store_job(m.cluster, r, false, changed));
    for (const StepRecord& s : m.steps) MUSTER_TRY_VOID(store_step(m.cluster, s, changed));
    for (const EventRecord& e : m.events) MUSTER_TRY_VOID(store_event(m.cluster, e, changed));
    for (const ReservationRecord& r : m.reservations) MUSTER_TRY_VOID(store_reservation(m.cluster, r, changed));
    return mark_changed(m.cluster, std::move(changed));
  });
}

Result<> Storage::replace_jobs(const std::vector<JobRecord>& jobs) {
  return in_transaction(*connection_, [&]() -> Result<> {
    std::map<std::string, std::vector<Span>> changed;
    for (const JobRecord& r : jobs) MUSTER_TRY_VOID(store_job(r.cluster, r, true, changed[r.cluster]));
    for (auto& [cluster, spans] : changed) MUSTER_TRY_VOID(mark_changed(cluster, std::move(spans)));
    return {};
  });
}

Result<> Storage::store_job(const std::string& cluster, const JobRecord& record, bool replace, std::vector<Span>& changed) {
  const Value key[] = {int64_t{record.key.id.value}, name_of(cluster), number_of(record.key.submitted), int64_t{record.key.restarts}};
  int64_t number = 0;
  JobRecord before;
  MUSTER_TRY_VOID(connection_->query("SELECT id, " + std::string(kJobColumns) + kOfOneJob, key, [&](const Row& row) -> Result<> {
    number = row.number(0);
    return read_job(row, 1, before);
  }));
  if (number && !replace && before.position >= record.position) return {};  // known, or older than what is known
  if (const Span span = changed_time(number ? &before : nullptr, record); !span.empty()) changed.push_back(span);
  const bool names_content = !record.script_hash.empty() || !record.environment_hash.empty();
  if (names_content || (number && before.ended != record.ended)) MUSTER_TRY_VOID(note_contents(cluster, record));
  JobRecord whole = record;
  whole.cluster = cluster;
  if (number && !replace) keep_texts(before, whole);
  whole.script_hash.clear();
  whole.environment_hash.clear();
  const std::string bytes = stored_job(std::move(whole));
  std::vector<Value> values = {signed_of(record.position),
                               int64_t{(record.array_job_id ? record.array_job_id : record.het ? record.het.leader : record.key.id).value},
                               int64_t{record.uid.value},
                               int64_t{record.gid.value},
                               name_of(record.account),
                               name_of(record.partition),
                               name_of(record.name),
                               name_of(record.qos),
                               name_of(record.wckey),
                               static_cast<int64_t>(record.state),
                               number_of(record.eligible),
                               number_of(record.started),
                               end_number(record.ended),
                               Bytes{bytes}};
  if (number) {
    values.emplace_back(number);
    return connection_->run(
        "UPDATE muster_jobs SET position = ?, head = ?, uid = ?, gid = ?, account = ?, part = ?, name = ?, qos = ?, wckey = ?,"
        " state = ?, eligible = ?, started = ?, ended = ?, record = ? WHERE id = ?",
        values);
  }
  values.insert(values.end(), std::begin(key), std::end(key));
  return connection_->run(
      "INSERT INTO muster_jobs(position, head, uid, gid, account, part, name, qos, wckey, state, eligible, started, ended, record,"
      " job, cluster, submitted, restarts) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      values);
}

// The job's energy is that of its steps, or what its batch or external step saw of its nodes if that is more; and never less than it was:
// steps may have been purged since. For steps with energy only. Cost: O(steps of the job).
Result<> Storage::sum_energy(const std::string& cluster, const StepRecord& step, std::vector<Span>& changed) {
  const Value key[] = {int64_t{step.job.id.value}, name_of(cluster), number_of(step.job.submitted), int64_t{step.job.restarts}};
  uint64_t whole = 0, steps = 0;
  MUSTER_TRY_VOID(
      connection_->query("SELECT step, energy FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?", key,
                         [&](const Row& row) -> Result<> {
                           const StepId id(static_cast<uint32_t>(row.number(0)));
                           const auto joules = static_cast<uint64_t>(row.number(1));
                           if (id == kBatchStep || id == kExternStep) whole = std::max(whole, joules);
                           else steps = add_sat(steps, joules);
                           return {};
                         }));
  const auto joules = static_cast<int64_t>(std::min(std::max(whole, steps), kMostJoules));
  int64_t known = -1;
  JobRecord job;
  MUSTER_TRY_VOID(connection_->query("SELECT energy, " + std::string(kJobColumns) + kOfOneJob, key, [&](const Row& row) -> Result<> {
    known = row.number(0);
    return read_job(row, 1, job);
  }));
  if (known < 0 || joules <= known) return {};
  if (const Span span = used_span(job); !span.empty()) changed.push_back(span);
  std::vector<Value> values = {joules};
  values.insert(values.end(), std::begin(key), std::end(key));
  return connection_->run("UPDATE muster_jobs SET energy = ? WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ?", values);
}

Result<> Storage::store_step(const std::string& cluster, const StepRecord& step, std::vector<Span>& changed) {
  std::vector<Value> key = {int64_t{step.job.id.value}, name_of(cluster), number_of(step.job.submitted), int64_t{step.job.restarts},
                            int64_t{step.id.value}};
  bool known = false;
  uint64_t position = 0;
  MUSTER_TRY_VOID(
      connection_->query("SELECT position FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ? AND step = ?",
                         key, [&](const Row& row) -> Result<> {
                           known = true;
                           position = static_cast<uint64_t>(row.number(0));
                           return {};
                         }));
  if (known && position >= step.position) return {};
  const std::string bytes = stored_step(step);
  const uint64_t joules = step.usage && step.usage->energy.parts ? std::min(step.usage->energy.total, kMostJoules) : 0;
  std::vector<Value> values = {signed_of(step.position), end_number(step.ended), Bytes{bytes}, static_cast<int64_t>(joules)};
  values.insert(values.end(), key.begin(), key.end());
  MUSTER_TRY_VOID(connection_->run(
      known
          ? "UPDATE muster_steps SET position = ?, ended = ?, record = ?, energy = ? WHERE job = ? AND cluster = ? AND submitted = ? "
            "AND restarts = ? AND step = ?"
          : "INSERT INTO muster_steps(position, ended, record, energy, job, cluster, submitted, restarts, step) VALUES(?,?,?,?,?,?,?,?,?)",
      values));
  return joules ? sum_energy(cluster, step, changed) : Result<>();
}

Result<std::vector<int64_t>> Storage::find_jobs(const rpc::JobRecordFilter& filter, const RecordAudience& audience,
                                                const std::function<bool()>& still_wanted) {
  const bool whole = needs_record(filter);
  MUSTER_TRY(rule, RecordRule::make(filter));
  size_t looked_at = 0;
  Where where = where_of(filter, audience);
  std::string statement = "SELECT id, cluster, head, job, submitted, restarts, state, started, ended, eligible, uid, account";
  if (whole) statement += ", " + std::string(kJobColumns);
  statement += " FROM muster_jobs" + where.text;
  std::vector<Found> found;
  std::set<std::string, std::less<>> clusters;
  MUSTER_TRY_VOID(connection_->scan(statement, where.values, [&](const Row& row) -> Result<> {
    if (looked_at++ % kRowsPerLook == 0 && still_wanted && !still_wanted()) return fail(Errc::kCommunicationFailed);
    if (!audience.sees(Uid(static_cast<uint32_t>(row.number(10))), row.bytes(1), row.bytes(11))) return {};
    auto state = static_cast<JobState>(row.number(6));
    if (!shows_waiting(filter, state, time_of(row.number(9)))) return {};
    bool named = false;
    if (whole) {
      JobRecord record;
      MUSTER_TRY_VOID(read_job(row, 12, record));
      if (!rule.matches(record)) return {};
      named = rule.names_run(record);
    } else if (!was_in_state(filter, state, time_of(row.number(4)), time_of(row.number(7)), time_of(row.number(8)))) {
      return {};
    }
    if (found.size() >= kMostJobs) return fail(Errc::kResultTooLarge);
    auto cluster = clusters.find(row.bytes(1));
    if (cluster == clusters.end()) cluster = clusters.emplace(row.bytes(1)).first;
    found.push_back({&*cluster, row.number(2), row.number(3), row.number(4), row.number(5), row.number(0), named});
    return {};
  }));
  std::ranges::sort(found, std::less<Found>());
  std::vector<int64_t> out;
  for (size_t i = 0; i < found.size(); ++i) {
    bool last_run = i + 1 == found.size() || found[i + 1].job != found[i].job || found[i + 1].cluster != found[i].cluster;
    if (filter.duplicates || last_run || found[i].named) out.push_back(found[i].number);
  }
  return out;
}

Result<> Storage::load_jobs(std::span<const int64_t> numbers, bool steps, rpc::JobRecords& out, size_t& taken, int64_t* next_step) {
  MUSTER_CHECK(!steps || next_step);
  taken = 0;
  size_t bytes = 0;
  LoadedJobs loaded;
  for (; taken < numbers.size(); ++taken) {
    if (bytes >= kPartBytes || out.steps.size() >= kPartSteps) return {};
    if (taken % LoadedJobs::kAtOnce == 0) {
      const auto rest = numbers.subspan(taken);
      MUSTER_TRY(some, LoadedJobs::load(*connection_, rest.first(std::min(rest.size(), LoadedJobs::kAtOnce)), steps));
      loaded = std::move(some);
    }
    LoadedJobs::One* one = loaded.find(numbers[taken]);
    if (!one) {  // deleted meanwhile
      if (next_step) *next_step = 0;
      continue;
    }
    if (!out.jobs.empty() && out.jobs.front().cluster != one->record.cluster) return {};
    bytes += one->bytes;
    const bool fits = loaded.has_steps() && out.steps.size() + one->steps.size() <= kPartSteps && bytes + one->step_bytes <= kPartBytes;
    if (steps && fits && *next_step == 0) {
      bytes += one->step_bytes;
      std::ranges::move(one->steps, std::back_inserter(out.steps));
    } else if (steps) {
      MUSTER_TRY_VOID(load_steps(one->record, bytes, out.steps, *next_step));
    }
    out.jobs.push_back(std::move(one->record));
    if (steps && *next_step) return {};
  }
  return {};
}

// Loads steps in sacct's order. Begins at rank `next` and goes on until the part is full; then `next` is the rank of the first step that is
// left, otherwise 0. Always loads at least one.
Result<> Storage::load_steps(const JobRecord& job, size_t& bytes, std::vector<StepRecord>& out, int64_t& next) {
  static const std::string kStatement =
      "SELECT " + step_rank() +
      ", step, position, ended, record FROM muster_steps WHERE job = ? AND cluster = ? AND submitted = ? AND restarts = ? AND " +
      step_rank() + " >= ? ORDER BY 1 LIMIT ?";
  const size_t first = out.size(), room = std::max<size_t>(kPartSteps, first + 1) - first;
  const Value values[] = {int64_t{job.key.id.value}, name_of(job.cluster),   number_of(job.key.submitted),
                          int64_t{job.key.restarts}, std::exchange(next, 0), static_cast<int64_t>(room + 1)};
  return connection_->query(kStatement, values, [&](const Row& row) -> Result<> {
    const size_t taken = out.size() - first;
    if (!next && (taken == room || (taken > 0 && bytes >= kPartBytes))) next = row.number(0);
    if (next) return {};
    bytes += row.bytes(4).size() + kLeftOutOfStep;
    return read_step(row, 1, job.key, out.emplace_back());
  });
}

Result<std::vector<EntityRow>> Storage::load_entities() {
  std::vector<EntityRow> out;
  MUSTER_TRY_VOID(connection_->query("SELECT kind, name, record FROM muster_entities", {}, [&](const Row& row) -> Result<> {
    out.push_back({static_cast<Entity>(row.number(0)), std::string(row.bytes(1)), std::string(row.bytes(2))});
    return {};
  }));
  return out;
}

Result<> Storage::change_entities(const EntityChanges& changes) {
  return in_transaction(*connection_, [&]() -> Result<> {
    auto erase = [&](Entity kind, const std::string& name) {
      const Value key[] = {static_cast<int64_t>(kind), name_of(name)};
      return connection_->run("DELETE FROM muster_entities WHERE kind = ? AND name = ?", key);
    };
    for (const auto& [kind, name] : changes.gone) MUSTER_TRY_VOID(erase(kind, name));
    for (const EntityRow& e : changes.put) {
      MUSTER_TRY_VOID(erase(e.kind, e.name));
      const Value values[] = {static_cast<int64_t>(e.kind), name_of(e.name), Bytes{e.record}};
      MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_entities(kind, name, record) VALUES(?,?,?)", values));
    }
    for (const TransactionRecord& t : changes.transactions) {
      std::string bytes = wire::encoded(t);
      const Value values[] = {number_of(t.time), name_of(t.actor), Bytes{bytes}};
      MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_transactions(time, actor, record) VALUES(?,?,?)", values));
    }
    return {};
  });
}

Result<> Storage::transactions(Time from, Time until, const std::function<Result<>(TransactionRecord)>& each) {
  const Value bounds[] = {number_of(from), until == kTimeUnset ? kNotEnded : number_of(until)};
  return connection_->scan("SELECT id, record FROM muster_transactions WHERE time >= ? AND time < ? ORDER BY id", bounds,
                           [&](const Row& row) -> Result<> {
                             TransactionRecord t;
                             MUSTER_TRY_VOID(wire::decode(row.bytes(1), t));
                             t.id = static_cast<uint64_t>(row.number(0));
                             return each(std::move(t));
                           });
}

// ---- look-ups that come before writing
Result<> Storage::keep_charged(rpc::StoreRecords& records, bool wckeys) {
  for (JobRecord& record : records.jobs) {
    const bool fills_key = wckeys && record.wckey.empty();
    if (!record.account.empty() && !record.qos.empty() && !fills_key) continue;
    const Value key[] = {int64_t{record.key.id.value}, name_of(records.cluster), number_of(record.key.submitted),
                         int64_t{record.key.restarts}};
    MUSTER_TRY_VOID(connection_->query("SELECT " + std::string(kJobColumns) + kOfOneJob, key, [&](const Row& row) -> Result<> {
      JobRecord known;
      MUSTER_TRY_VOID(read_job(row, 0, known));
      if (record.account.empty()) record.account = known.account;
      if (record.qos.empty()) record.qos = known.qos;
      if (fills_key) record.wckey = known.wckey;
      if (fills_key) record.wckey_is_default = known.wckey_is_default;  // not of one that sacctmgr modify job has given it
      return {};
    }));
  }
  return {};
}

Result<bool> Storage::any_job(const rpc::JobRecordFilter& filter, const std::string& user, const std::string& partition) {
  bool found = false;
  auto done = matching_jobs(filter, RecordAudience::everybody(), {}, [&](const JobRecord& record) -> Result<> {
    found = (user.empty() || record.user == user) && (partition.empty() || record.partition == partition);
    return found ? Result<>(fail(Errc::kError)) : Result<>();  // an error ends the query
  });
  if (!done && !found) return std::unexpected(done.error());
  return found;
}

}  // namespace muster::sql
