// Purging in both kinds of database: what goes, what stays, how much at once, and that time which was purged is not rolled up again.
#include <gtest/gtest.h>

#include <memory>

#include "sql/storage.h"
#include "sql/testing.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

PrivateMariaDb* server() {
  static std::unique_ptr<PrivateMariaDb> one = [] {
    auto s = std::make_unique<PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

Time at(int64_t hour) { return from_unix(1'700'002'800) + minutes(60 * hour); }

JobRecord job(uint32_t id, int64_t from, std::optional<int64_t> until) {
  JobRecord record;
  record.key = {JobId(id), at(from), 0};
  record.position = 1;
  record.state = until ? JobState::kCompleted : JobState::kRunning;
  record.eligible = record.started = at(from);
  if (until) record.ended = at(*until);
  record.tres_allocated = TresAmounts::from_text("cpu=2");
  return record;
}
StepRecord step(const JobRecord& of, uint32_t id, std::optional<int64_t> until) {
  StepRecord record;
  record.job = of.key;
  record.id = StepId(id);
  record.position = 1;
  record.started = of.started;
  if (until) record.ended = at(*until);
  return record;
}

class PurgeStorage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (maria()) {
      if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      database_ = "muster_purge_" + std::to_string(++databases);
    }
    auto opened = Storage::open(connect());
    ASSERT_TRUE(opened) << opened.error().message();
    storage = std::move(*opened);
  }
  bool maria() const { return std::string(GetParam()) == "mariadb"; }
  std::unique_ptr<Connection> connect() {
    auto made = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return made ? std::move(*made) : nullptr;
  }
  void store(rpc::StoreRecords records) {
    records.cluster = "c";
    auto stored = storage->store(records);
    ASSERT_TRUE(stored) << stored.error().message();
  }
  Purged purge(RecordKind kind, Time before, size_t most = 1000) {
    auto purged = storage->purge(kind, "c", before, most);
    EXPECT_TRUE(purged) << (purged ? "" : purged.error().message());
    return purged ? *purged : Purged();
  }
  int64_t count(const std::string& table) {
    int64_t rows = -1;
    EXPECT_TRUE(storage->connection().query("SELECT COUNT(*) FROM " + table, {}, [&](const Row& row) -> Result<> {
      rows = row.number(0);
      return {};
    }));
    return rows;
  }
  std::vector<uint32_t> jobs() {
    std::vector<uint32_t> ids;
    EXPECT_TRUE(storage->jobs_within("c", at(-1000), kTimeInfinite - minutes(1), [&](const JobRecord& record, uint64_t) -> Result<> {
      ids.push_back(record.key.id.value);
      return {};
    }));
    std::ranges::sort(ids);
    return ids;
  }

  TemporaryDirectory directory_;
  std::string database_;
  std::unique_ptr<Storage> storage;
};

using Ids = std::vector<uint32_t>;

TEST_P(PurgeStorage, JobsThatEndedBeforeGoWithTheirStepsAndRunningOnesStay) {
  const JobRecord old = job(1, 0, 2), young = job(2, 0, 5), edge = job(3, 1, 3), running = job(4, 0, std::nullopt);
  store({.jobs = {old, young, edge, running},
         .steps = {step(old, 0, 1), step(old, 1, 2), step(young, 0, 1), step(running, 0, 1), step(running, 1, std::nullopt)}});
  EXPECT_EQ(*storage->whole_from("c"), kTimeUnset);
  EXPECT_EQ(purge(RecordKind::kJobs, at(0)).records, 0u);
  EXPECT_EQ(*storage->whole_from("c"), kTimeUnset) << "nothing went";
  const Purged purged = purge(RecordKind::kJobs, at(3));
  EXPECT_EQ(purged.records, 1u);
  EXPECT_FALSE(purged.more);
  EXPECT_EQ(jobs(), (Ids{2, 3, 4}));
  EXPECT_EQ(count("muster_steps"), 3);
  EXPECT_EQ(*storage->whole_from("c"), at(3));
  EXPECT_EQ(*storage->whole_from("other"), kTimeUnset);
  purge(RecordKind::kJobs, kTimeInfinite);
  EXPECT_EQ(jobs(), (Ids{4})) << "however long ago it began";
}

TEST_P(PurgeStorage, PartsOfARunGoWhenItHasEnded) {
  JobRecord first = job(1, 0, 1), last = job(1, 1, std::nullopt);
  last.first_submitted = first.key.submitted;
  store({.jobs = {first, last, job(2, 0, 1)}, .steps = {step(first, 0, 1)}});
  purge(RecordKind::kJobs, at(100));
  EXPECT_EQ(jobs(), (Ids{1, 1})) << "the run goes on";
  EXPECT_EQ(count("muster_steps"), 1);
  last.ended = at(2);
  last.position = 2;
  store({.jobs = {last}});
  purge(RecordKind::kJobs, at(100));
  EXPECT_EQ(jobs(), Ids{});
}

TEST_P(PurgeStorage, ATransactionDeletesNoMoreThanItMayAndTheOldestGoFirst) {
  rpc::StoreRecords records;
  for (uint32_t id = 1; id <= 5; ++id) {
    records.jobs.push_back(job(id, 0, 10 - id));
    for (uint32_t number = 0; number < 4; ++number) records.steps.push_back(step(records.jobs.back(), number, 1));
  }
  store(records);
  int64_t left = 25;
  size_t gone = 0, pieces = 0;
  for (bool more = true; more; ++pieces) {
    const Purged purged = purge(RecordKind::kJobs, at(20), 7);
    gone += purged.records;
    more = purged.more;
    const int64_t now_left = count("muster_jobs") + count("muster_steps");
    EXPECT_LE(left - now_left, 7);
    left = now_left;
    if (pieces == 0) {
      EXPECT_EQ(jobs(), (Ids{1, 2, 3, 4})) << "job 5 ended first";
    }
    ASSERT_LT(pieces, 10u);
  }
  EXPECT_EQ(gone, 5u);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(pieces, 4u);  // 7, 7, 7 and 4
}

TEST_P(PurgeStorage, StepsGoByTheirOwnEnd) {
  const JobRecord running = job(1, 0, std::nullopt);
  store({.jobs = {running}, .steps = {step(running, 0, 1), step(running, 1, 4), step(running, 2, std::nullopt)}});
  EXPECT_EQ(purge(RecordKind::kSteps, at(4)).records, 1u);
  EXPECT_EQ(count("muster_steps"), 2);
  EXPECT_EQ(*storage->whole_from("c"), kTimeUnset) << "no usage is made of steps";
  EXPECT_EQ(purge(RecordKind::kSteps, at(100)).records, 1u);
  EXPECT_EQ(jobs(), (Ids{1}));
}

TEST_P(PurgeStorage, StepsOfAnOlderSchemaAreLookedInto) {
  const JobRecord running = job(1, 0, std::nullopt);
  const std::vector<StepRecord> steps = {step(running, 0, 1), step(running, 1, 4), step(running, 2, std::nullopt)};
  store({.jobs = {running}, .steps = steps});
  Connection& connection = storage->connection();
  for (const StepRecord& s : steps) {  // records were whole
    const std::string record = wire::encoded(s);
    ASSERT_TRUE(
        connection.run("UPDATE muster_steps SET record = ? WHERE step = ?", std::array<Value, 2>{Bytes{record}, int64_t{s.id.value}}));
  }
  for (const char* statement :
       {maria() ? "DROP INDEX muster_reservations_ended ON muster_reservations" : "DROP INDEX muster_reservations_ended",
        "DROP TABLE muster_purged", "DROP TABLE muster_job_contents", "ALTER TABLE muster_jobs DROP COLUMN energy",
        "UPDATE muster_meta SET value = 2 WHERE name = 'schema'", "ALTER TABLE muster_steps RENAME TO newer",
        "CREATE TABLE muster_steps AS SELECT cluster, job, submitted, restarts, step, position, record FROM newer", "DROP TABLE newer"})
    ASSERT_TRUE(connection.run(statement)) << statement;
  storage.reset();
  auto opened = Storage::open(connect());
  ASSERT_TRUE(opened) << opened.error().message();
  storage = std::move(*opened);
  EXPECT_TRUE(purge(RecordKind::kSteps, at(3), 2).more);
  EXPECT_EQ(count("muster_steps"), 3) << "the first pieces only look";
  for (int pieces = 0; purge(RecordKind::kSteps, at(3), 2).more; ++pieces) ASSERT_LT(pieces, 5);
  EXPECT_EQ(count("muster_steps"), 2);
}

TEST_P(PurgeStorage, EventsReservationsAndTransactionsGo) {
  rpc::StoreRecords records;
  for (const auto& [node, until] : {std::pair{"n1", 1}, {"n2", 5}, {"n3", -1}}) {
    EventRecord& event = records.events.emplace_back();
    event.node = node;
    event.position = 1;
    event.started = at(0);
    if (until >= 0) event.ended = at(until);
  }
  for (uint32_t id = 1; id <= 2; ++id) {
    ReservationRecord& reservation = records.reservations.emplace_back();
    reservation.id = id;
    reservation.position = 1;
    reservation.started = at(0);
    reservation.ended = at(3 * id);
  }
  store(records);
  TransactionRecord first, second;
  first.time = at(1);
  second.time = at(2);
  ASSERT_TRUE(storage->change_entities({{}, {}, {first, second}}));

  EXPECT_EQ(purge(RecordKind::kEvents, at(4)).records, 1u);
  EXPECT_EQ(*storage->whole_from("c"), at(4));
  std::string nodes;
  ASSERT_TRUE(storage->events_within("c", at(0), at(9), [&](const EventRecord& event) -> Result<> {
    nodes += event.node;
    return {};
  }));
  EXPECT_EQ(nodes, "n2n3");
  EXPECT_EQ(purge(RecordKind::kReservations, at(5)).records, 1u);
  EXPECT_EQ(count("muster_reservations"), 1);
  EXPECT_EQ(purge(RecordKind::kTransactions, at(2)).records, 1u);
  EXPECT_EQ(count("muster_transactions"), 1);
  EXPECT_EQ(purge(RecordKind::kEvents, at(2)).records, 0u);
  EXPECT_EQ(*storage->whole_from("c"), at(5)) << "it never falls";
}

TEST_P(PurgeStorage, RollUpsGoOnceTheyAreOver) {
  setenv("TZ", "UTC", 1);
  tzset();
  const Time month = from_unix(1'698'796'800), day = from_unix(1'699'920'000);  // 2023-11-01, 2023-11-14
  Usage some;
  some.entries = {{{"a", "u", "", "", "", false}, TresAmounts::from_text("cpu=5")}};
  UsageBatch batch;
  batch.rows = {{UsagePeriod::kMonth, month, some},
                {UsagePeriod::kDay, day - minutes(24 * 60), some},
                {UsagePeriod::kDay, day, some},
                {UsagePeriod::kHour, day + minutes(60), some},
                {UsagePeriod::kHour, day + minutes(120), some}};
  batch.state = {month, day + minutes(180)};
  ASSERT_TRUE(storage->put_usage("c", batch));
  EXPECT_EQ(purge(RecordKind::kUsage, day + minutes(120)).records, 2u);
  auto left = [&](UsagePeriod period) {
    std::vector<Time> out;
    EXPECT_TRUE(storage->load_usage("c", period, Time{}, kTimeInfinite, [&](Time begin, const Usage&) -> Result<> {
      out.push_back(begin);
      return {};
    }));
    return out;
  };
  EXPECT_EQ(left(UsagePeriod::kHour), std::vector<Time>{day + minutes(120)});
  EXPECT_EQ(left(UsagePeriod::kDay), std::vector<Time>{day});
  EXPECT_EQ(left(UsagePeriod::kMonth), std::vector<Time>{month});
  EXPECT_EQ(*storage->usage_state("c"), (UsageState{day + minutes(120), day + minutes(180)}));
}

TEST_P(PurgeStorage, TimeThatWasPurgedIsNotMarkedAnyMore) {
  UsageBatch batch;
  batch.state = {at(0), at(10)};
  store({.jobs = {job(1, 0, 2)}});
  ASSERT_TRUE(storage->put_usage("c", batch));
  purge(RecordKind::kJobs, at(3));
  store({.jobs = {job(2, 1, 2)}});  // late, all of it before
  EXPECT_TRUE(storage->changed_times("c")->empty());
  store({.jobs = {job(3, 1, 5)}});
  EXPECT_EQ(*storage->changed_times("c"), (std::vector<Span>{{at(3), at(5)}}));
}

TEST_P(PurgeStorage, TheClustersThatHaveRecordsAreFound) {
  EXPECT_TRUE(storage->recorded_clusters(RecordKind::kJobs)->empty());
  for (const char* cluster : {"b", "a", "' OR 1=1 --"}) {
    rpc::StoreRecords records;
    records.cluster = cluster;
    for (uint32_t id = 1; id <= 3; ++id) records.jobs.push_back(job(id, 0, 1));
    ASSERT_TRUE(storage->store(records));
  }
  EXPECT_EQ(*storage->recorded_clusters(RecordKind::kJobs), (std::vector<std::string>{"' OR 1=1 --", "a", "b"}));
  EXPECT_TRUE(storage->recorded_clusters(RecordKind::kEvents)->empty());
  EXPECT_EQ(*storage->recorded_clusters(RecordKind::kTransactions), std::vector<std::string>{""});
  EXPECT_EQ(storage->purge(RecordKind::kJobs, "' OR 1=1 --", at(2), 100)->records, 3u);
  EXPECT_EQ(count("muster_jobs"), 6);
}

struct Keeper final : RowKeeper {
  Result<> keep(ArchivePart part) override {
    parts.push_back(std::move(part));
    return {};
  }
  Result<> make_durable() override { return safe ? Result<>() : fail(Errc::kDiskFull); }
  std::vector<ArchivePart> parts;
  bool safe = true;
};

TEST_P(PurgeStorage, NothingGoesThatTheKeeperHasNotMadeDurable) {
  const JobRecord old = job(1, 0, 2);
  store({.jobs = {old}, .steps = {step(old, 0, 1), step(old, 1, 2)}});
  Keeper keeper;
  keeper.safe = false;
  const auto refused = storage->purge(RecordKind::kJobs, "c", at(5), 100, &keeper);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kDiskFull);
  EXPECT_EQ(jobs(), (Ids{1}));
  EXPECT_EQ(count("muster_steps"), 2);
  EXPECT_EQ(*storage->whole_from("c"), kTimeUnset);
  keeper = {};
  EXPECT_EQ(storage->purge(RecordKind::kJobs, "c", at(5), 100, &keeper)->records, 1u);
  ASSERT_EQ(keeper.parts.size(), 1u);
  EXPECT_EQ(keeper.parts[0].cluster, "c");
  EXPECT_EQ(keeper.parts[0].jobs.size(), 1u);
  EXPECT_EQ(keeper.parts[0].steps.size(), 2u);
  EXPECT_EQ(count("muster_steps"), 0);
}

TEST_P(PurgeStorage, EveryKindComesBackOnceAndWhatIsThereStays) {
  rpc::StoreRecords records;
  records.jobs = {job(1, 0, 2)};
  records.steps = {step(records.jobs[0], 0, 1)};
  EventRecord& event = records.events.emplace_back();
  event.node = "n1";
  event.position = 1;
  event.started = at(0);
  event.ended = at(1);
  ReservationRecord& held = records.reservations.emplace_back();
  held.id = 3;
  held.position = 1;
  held.started = at(0);
  held.ended = at(1);
  store(records);
  TransactionRecord edit, other;
  edit.time = other.time = at(1);
  edit.actor = other.actor = "root";
  edit.action = "Add Accounts";
  other.action = "Add Users";
  ASSERT_TRUE(storage->change_entities({{}, {}, {edit, other}}));
  Keeper keeper;
  for (RecordKind kind : {RecordKind::kSteps, RecordKind::kJobs, RecordKind::kEvents, RecordKind::kReservations, RecordKind::kTransactions})
    ASSERT_TRUE(storage->purge(kind, kind == RecordKind::kTransactions || kind == RecordKind::kSteps ? "" : "c", at(9), 100, &keeper));
  for (const char* table : {"muster_jobs", "muster_steps", "muster_events", "muster_reservations", "muster_transactions"})
    EXPECT_EQ(count(table), 0) << table;
  // Its number is given again meanwhile, and the job's record is another by now.
  TransactionRecord later = edit;
  later.time = at(2);
  ASSERT_TRUE(storage->change_entities({{}, {}, {later}}));
  JobRecord changed = records.jobs[0];
  changed.comment = "edited";
  store({.jobs = {changed}});
  for (const auto& [added, known] : {std::pair{5u, 1u}, {0u, 6u}}) {
    Restored counts;
    for (const ArchivePart& part : keeper.parts) ASSERT_TRUE(storage->restore(part, counts));
    EXPECT_EQ(counts.added, added);
    EXPECT_EQ(counts.known, known);
    EXPECT_EQ(count("muster_transactions"), 3);
    EXPECT_EQ(count("muster_steps"), 1);
  }
  EXPECT_TRUE(storage->jobs_within("c", at(-1), at(9), [&](const JobRecord& found, uint64_t) -> Result<> {
    EXPECT_EQ(found.comment, "edited");
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Both, PurgeStorage, testing::Values("sqlite", "mariadb"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace muster::sql
