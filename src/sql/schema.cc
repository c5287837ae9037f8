#include "sql/schema.h"

#include <array>

namespace muster::sql {
namespace {

// Columns hold what is searched for; `record` is the record as on the wire, since version 6 without what columns say (stored_records.h). Columns
// hold at most the first 255 bytes of a name. Times are microseconds since 1970; `ended` of a job or step that has not ended is the largest number, so that one comparison
// finds it.
constexpr std::string_view kTables[] = {
    "CREATE TABLE IF NOT EXISTS muster_meta(name {name}, value BIGINT NOT NULL, PRIMARY KEY(name)){end}",
    "CREATE TABLE IF NOT EXISTS muster_jobs(id {id}, cluster {name}, job BIGINT NOT NULL, submitted BIGINT NOT NULL,"
    " restarts BIGINT NOT NULL, position BIGINT NOT NULL, head BIGINT NOT NULL, uid BIGINT NOT NULL, gid BIGINT NOT NULL,"
    " account {name}, part {name}, name {name}, qos {name}, wckey {name}, state BIGINT NOT NULL, eligible BIGINT NOT NULL,"
    " started BIGINT NOT NULL, ended BIGINT NOT NULL, record {bytes}, energy BIGINT NOT NULL DEFAULT 0,"
    " UNIQUE(job, cluster, submitted, restarts)){end}",
    "CREATE TABLE IF NOT EXISTS muster_steps(cluster {name}, job BIGINT NOT NULL, submitted BIGINT NOT NULL,"
    " restarts BIGINT NOT NULL, step BIGINT NOT NULL, position BIGINT NOT NULL, ended BIGINT NOT NULL, record {bytes},"
    " energy BIGINT NOT NULL DEFAULT 0, PRIMARY KEY(job, cluster, submitted, restarts, step)){keyed}",
    "CREATE TABLE IF NOT EXISTS muster_entities(kind BIGINT NOT NULL, name {name}, record {bytes},"
    " PRIMARY KEY(kind, name)){end}",
    "CREATE TABLE IF NOT EXISTS muster_transactions(id {id}, time BIGINT NOT NULL, actor {name}, record {bytes}){end}",
    // Since version 2:
    "CREATE TABLE IF NOT EXISTS muster_events(cluster {name}, node {name}, started BIGINT NOT NULL, ended BIGINT NOT NULL, record {bytes},"
    " PRIMARY KEY(cluster, node, started)){end}",
    "CREATE TABLE IF NOT EXISTS muster_reservations(cluster {name}, number BIGINT NOT NULL, started BIGINT NOT NULL,"
    " ended BIGINT NOT NULL, record {bytes}, PRIMARY KEY(cluster, number, started)){end}",
    "CREATE TABLE IF NOT EXISTS muster_usage(cluster {name}, period BIGINT NOT NULL, at BIGINT NOT NULL, part BIGINT NOT NULL,"
    " record {bytes}, PRIMARY KEY(cluster, period, at, part)){end}",
    "CREATE TABLE IF NOT EXISTS muster_usage_state(cluster {name}, first BIGINT NOT NULL, rolled BIGINT NOT NULL, PRIMARY "
    "KEY(cluster)){end}",
    "CREATE TABLE IF NOT EXISTS muster_usage_changed(id {id}, cluster {name}, began BIGINT NOT NULL, ended BIGINT NOT NULL){end}",
    // Since version 3:
    "CREATE TABLE IF NOT EXISTS muster_purged(cluster {name}, whole_from BIGINT NOT NULL, PRIMARY KEY(cluster)){end}",
    // Since version 4:
    "CREATE TABLE IF NOT EXISTS muster_job_contents(kind BIGINT NOT NULL, job BIGINT NOT NULL, cluster {name}, submitted BIGINT NOT NULL,"
    " restarts BIGINT NOT NULL, ended BIGINT NOT NULL, hash {name}, PRIMARY KEY(kind, job, cluster, submitted, restarts)){end}",
    "CREATE TABLE IF NOT EXISTS muster_contents(hash {name}, size BIGINT NOT NULL, kept BIGINT NOT NULL, PRIMARY KEY(hash)){end}",
    "CREATE TABLE IF NOT EXISTS muster_content_pieces(hash {name}, piece BIGINT NOT NULL, bytes {bytes}, PRIMARY KEY(hash, piece)){end}",
};
// Columns that tables of older versions lack.
struct Column {
  int since;  // the schema version that brought it
  std::string_view add;
};
constexpr Column kColumns[] = {
    // -1: only the record says it, until the first purge of steps has looked (purge_storage.cc).
    {3, "ALTER TABLE muster_steps ADD COLUMN ended BIGINT NOT NULL DEFAULT -1"},
    // Joules, for roll-ups: of a step, and of all steps of a job. 0 of those that were recorded before.
    {5, "ALTER TABLE muster_steps ADD COLUMN energy BIGINT NOT NULL DEFAULT 0"},
    {5, "ALTER TABLE muster_jobs ADD COLUMN energy BIGINT NOT NULL DEFAULT 0"},
};
struct Index {
  int since;  // the schema version that brought it
  std::string_view create;
};
constexpr Index kIndexes[] = {
    {1, "CREATE INDEX muster_jobs_head ON muster_jobs(head)"},
    {1, "CREATE INDEX muster_jobs_ended ON muster_jobs(ended)"},
    {1, "CREATE INDEX muster_jobs_uid ON muster_jobs(uid, ended)"},
    {1, "CREATE INDEX muster_jobs_account ON muster_jobs(account, ended)"},
    {1, "CREATE INDEX muster_transactions_time ON muster_transactions(time)"},
    {2, "CREATE INDEX muster_jobs_time ON muster_jobs(cluster, ended, submitted)"},
    {2, "CREATE INDEX muster_events_ended ON muster_events(cluster, ended)"},
    {2, "CREATE INDEX muster_usage_changed_of ON muster_usage_changed(cluster)"},
    {3, "CREATE INDEX muster_steps_ended ON muster_steps(ended)"},
    {3, "CREATE INDEX muster_reservations_ended ON muster_reservations(cluster, ended)"},
    {4, "CREATE INDEX muster_job_contents_ended ON muster_job_contents(kind, cluster, ended)"},
    {4, "CREATE INDEX muster_job_contents_hash ON muster_job_contents(hash)"},
};

// MariaDB may have done it already, in an attempt that did not come to its end.
Result<> run_once(Connection& c, std::string_view statement) {
  Result<> done = c.run(statement);
  return !done && done.error().code == Errc::kAlreadyDone ? Result<>() : done;
}

Result<int64_t> version_of(Connection& c) {
  int64_t version = 0;
  MUSTER_TRY_VOID(
      c.query("SELECT value FROM muster_meta WHERE name = ?", std::array<Value, 1>{Text{"schema"}}, [&](const Row& row) -> Result<> {
        version = row.number(0);
        return {};
      }));
  return version;
}

}  // namespace

Result<int64_t> schema_version(Connection& c) {
  MUSTER_TRY(there, c.has_table("muster_meta"));
  return there ? version_of(c) : 0;
}

Result<> prepare_schema(Connection& connection) {
  MUSTER_TRY(version, schema_version(connection));
  if (version == kSchemaVersion) return {};
  if (version > kSchemaVersion)
    return fail(Errc::kStateNotSaved,
                connection.name() + ": the accounting tables were made by a newer Muster: they have schema version " +
                    std::to_string(version) + ", this program knows versions up to " + std::to_string(kSchemaVersion),
                "Nothing was changed. Start the newer program again, or restore a backup from before the upgrade.");
  // Versions differ in tables, columns and indexes that are new, so an older schema is made into this one by creating what is missing. MariaDB
  // commits each of these by itself. So the version is written last, and a schema left half-made is made again.
  return in_transaction(connection, [&]() -> Result<> {
    for (std::string_view table : kTables) MUSTER_TRY_VOID(connection.run(connection.spelled(table)));
    for (const Column& column : kColumns)
      if (version > 0 && column.since > version) MUSTER_TRY_VOID(run_once(connection, column.add));
    for (const Index& index : kIndexes)
      if (index.since > version) MUSTER_TRY_VOID(run_once(connection, index.create));
    const Value values[] = {int64_t{kSchemaVersion}, Text{"schema"}};
    return connection.run(version ? "UPDATE muster_meta SET value = ? WHERE name = ?" : "INSERT INTO muster_meta(value, name) VALUES(?, ?)",
                          values);
  });
}

}  // namespace muster::sql
