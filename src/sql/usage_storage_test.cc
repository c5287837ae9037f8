// Roll-ups, marks, events and reservations in both kinds of database, and a database of schema version 1 that is made into this one.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "sql/schema.h"
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

class UsageStorage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (maria()) {
      if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      database_ = "muster_usage_" + std::to_string(++databases);
    }
  }
  bool maria() const { return std::string(GetParam()) == "mariadb"; }
  std::unique_ptr<Connection> connect() {
    auto c = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
    EXPECT_TRUE(c) << (c ? "" : c.error().message());
    return c ? std::move(*c) : nullptr;
  }
  Storage& storage() {
    if (!storage_) {
      auto s = Storage::open(connect());
      EXPECT_TRUE(s) << (s ? "" : s.error().message());
      storage_ = std::move(*s);
    }
    return *storage_;
  }
  void store(const JobRecord& j, const std::string& cluster = "c") {
    rpc::StoreRecords m;
    m.cluster = cluster;
    m.jobs = {j};
    auto ok = storage().store(m);
    ASSERT_TRUE(ok) << ok.error().message();
  }
  void rolled_until(int64_t hour) {
    UsageBatch b;
    b.state = {at(0), at(hour)};
    auto ok = storage().put_usage("c", b);
    ASSERT_TRUE(ok) << ok.error().message();
  }
  std::vector<Span> changed() {
    auto got = storage().changed_times("c");
    EXPECT_TRUE(got) << (got ? "" : got.error().message());
    return got ? *got : std::vector<Span>();
  }

  TemporaryDirectory directory_;
  std::string database_;
  std::unique_ptr<Storage> storage_;
};

JobRecord job(uint32_t id, int64_t from, int64_t until, uint64_t position) {
  JobRecord j;
  j.key = {JobId(id), at(from), 0};
  j.position = position;
  j.state = until < 0 ? JobState::kRunning : JobState::kCompleted;
  j.account = "a";
  j.user = "u";
  j.eligible = j.started = at(from);
  if (until >= 0) j.ended = at(until);
  j.tres_allocated = TresAmounts::from_text("cpu=2");
  return j;
}

TEST_P(UsageStorage, RollUpsComeBackInOrderAndAreReplaced) {
  UsageBatch b;
  Usage one, two;
  one.entries = {{{"a", "u", "", "", "", false}, TresAmounts::from_text("cpu=5")}};
  one.cluster.reported = TresAmounts::from_text("cpu=9");
  for (int i = 0; i < 5000; ++i)  // more than one row takes
    two.entries.push_back({{"a", "u" + std::to_string(10'000 + i), "", "", "", false}, TresAmounts::from_text("cpu=1")});
  b.rows = {{UsagePeriod::kHour, at(1), two}, {UsagePeriod::kHour, at(0), one}, {UsagePeriod::kDay, at(0), one}};
  b.state = {at(0), at(2)};
  ASSERT_TRUE(storage().put_usage("c", b));
  EXPECT_EQ(*storage().usage_state("c"), (UsageState{at(0), at(2)}));
  EXPECT_EQ(*storage().usage_state("d"), UsageState());
  std::map<Time, Usage> got;
  auto load = [&](Time from, Time until) {
    got.clear();
    EXPECT_TRUE(storage().load_usage("c", UsagePeriod::kHour, from, until, [&](Time t, const Usage& u) -> Result<> {
      if (!u.cluster.reported.empty()) got[t].cluster = u.cluster;
      std::ranges::copy(u.entries, std::back_inserter(got[t].entries));
      return {};
    }));
  };
  load(at(0), at(2));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[at(0)], one);
  EXPECT_EQ(got[at(1)], two);
  load(at(1), at(2));
  EXPECT_EQ(got.size(), 1u);
  b.rows = {{UsagePeriod::kHour, at(1), one}, {UsagePeriod::kHour, at(0), {}}};
  ASSERT_TRUE(storage().put_usage("c", b));
  load(at(0), at(2));
  EXPECT_EQ(got, (std::map<Time, Usage>{{at(1), one}}));
}

TEST_P(UsageStorage, AChangeOfWhatIsRolledIsMarked) {
  store(job(1, 0, -1, 1));
  EXPECT_TRUE(changed().empty());  // nothing is rolled yet
  rolled_until(10);
  store(job(1, 0, -1, 2));
  EXPECT_TRUE(changed().empty());  // the same usage
  store(job(1, 0, 4, 3));
  EXPECT_EQ(changed(), (std::vector<Span>{{at(4), at(10)}}));
  store(job(2, 2, 3, 4));  // stored late
  EXPECT_EQ(changed(), (std::vector<Span>{{at(2), at(3)}, {at(4), at(10)}}));
  store(job(3, 10, -1, 5));
  store(job(4, 1, 2, 6), "other");
  EXPECT_EQ(changed().size(), 2u);
  store(job(1, 0, 1, 2));  // older than what is known
  EXPECT_EQ(changed().size(), 2u);
  rolled_until(11);
  EXPECT_TRUE(changed().empty());

  JobRecord edited = job(2, 2, 3, 4);
  edited.cluster = "c";
  edited.wckey = "grant";
  ASSERT_TRUE(storage().replace_jobs({edited}));  // sacctmgr modify job
  EXPECT_EQ(changed(), (std::vector<Span>{{at(2), at(3)}}));
}

TEST_P(UsageStorage, RecordsOfATimeAreFound) {
  for (uint32_t i = 0; i < 10; ++i) store(job(i + 1, i, i + 1, 1));
  store(job(50, 0, -1, 1));
  std::vector<uint32_t> ids;
  ASSERT_TRUE(storage().jobs_within("c", at(3), at(5), [&](const JobRecord& j, uint64_t) -> Result<> {
    ids.push_back(j.key.id.value);
    return {};
  }));
  std::ranges::sort(ids);
  EXPECT_EQ(ids, (std::vector<uint32_t>{4, 5, 50}));
  EXPECT_EQ(*storage().first_time("c"), at(0));
  EXPECT_EQ(*storage().first_time("' OR 1=1 --"), kTimeInfinite);
}

// What reports of sizes read of a run is what its whole record says, whatever the filter.
TEST_P(UsageStorage, RunsInBriefAreThoseOfTheRecords) {
  uint32_t id = 0;
  auto put = [&](auto&& change, const std::string& cluster = "c") {
    ++id;
    JobRecord j = job(id, id % 7, id % 7 + 3, 1);
    j.wckey = id % 2 ? "w" : "";
    j.partition = id % 3 ? "p" : "q";
    j.uid = Uid(id % 4);
    j.work_dir = j.submit_line = j.comment = std::string(300, 'x');
    j.tres_allocated = TresAmounts::from_text("cpu=" + std::to_string(id % 5) + ",mem=4G,gres/gpu:h100=2,license/a=1");
    change(j);
    store(j, cluster);
  };
  for (int i = 0; i < 20; ++i) put([](JobRecord&) {});
  put([](JobRecord& j) { j.suspended_total = minutes(30); });
  put([](JobRecord& j) {
    j.state = JobState::kSuspended;
    j.suspended = j.started + minutes(20);
    j.ended = kTimeUnset;
  });
  put([](JobRecord& j) {
    j.state = JobState::kPending;
    j.started = j.ended = kTimeUnset;
  });
  put([](JobRecord& j) {
    j.state = JobState::kRunning;
    j.ended = kTimeUnset;
  });
  put([](JobRecord& j) {  // cancelled while it waited
    j.state = JobState::kCancelled;
    j.started = j.ended;
  });
  put([](JobRecord& j) { j.account = std::string(300, 'a') + "1"; });
  put([](JobRecord& j) { j.account = std::string(300, 'a') + "2"; });
  put([](JobRecord& j) { j.tres_allocated = {}; });
  put([](JobRecord&) {}, "other");

  using Runs = std::multiset<std::string>;
  auto line = [](std::string_view cluster, std::string_view account, std::string_view wckey, Span used, const TresAmounts& amounts) {
    return std::string(cluster) + "|" + std::string(account) + "|" + std::string(wckey) + "|" + tres_text(amounts) + "|" +
           std::to_string(used.from.time_since_epoch().count()) + "|" + std::to_string(used.until.time_since_epoch().count());
  };
  auto agree = [&](const rpc::JobRecordFilter& filter, const char* what) {
    Runs whole, brief;
    EXPECT_TRUE(storage().matching_jobs(filter, RecordAudience::everybody(), {}, [&](const JobRecord& j) -> Result<> {
      whole.insert(line(j.cluster, j.account, j.wckey, used_span(j), j.tres_allocated));
      return {};
    }));
    EXPECT_TRUE(storage().used_runs(filter, RecordAudience::everybody(), {}, [&](const UsedRun& run) -> Result<> {
      TresAmounts amounts;
      MUSTER_TRY_VOID(wire::decode(run.amounts, amounts));
      brief.insert(line(run.cluster, run.account, run.wckey, run.used, amounts));
      return {};
    }));
    EXPECT_EQ(brief, whole) << what;
    return brief.size();
  };
  rpc::JobRecordFilter f;
  EXPECT_EQ(agree(f, "all"), id);
  f.clusters = {"c"};
  EXPECT_EQ(agree(f, "a cluster"), id - 1);
  f.from = at(2);
  f.until = at(4);
  EXPECT_LT(agree(f, "a time"), id - 1);
  auto with = [&](auto&& set, const char* what) {
    rpc::JobRecordFilter some = f;
    set(some);
    const size_t n = agree(some, what);
    EXPECT_GT(n, 0u) << what;
    EXPECT_LT(n, id - 1) << what;
  };
  with([](auto& q) { q.users = {Uid(1), Uid(2)}; }, "users");
  with([](auto& q) { q.wckeys = {"w"}; }, "a wckey");
  with([](auto& q) { q.partitions = {"q"}; }, "a partition, which only the record tells");
  with([](auto& q) { q.jobs = {{.job = JobId(3)}, {.job = JobId(9)}}; }, "jobs");
  with([](auto& q) { q.states = 1u << static_cast<unsigned>(JobState::kSuspended); }, "a state");
  f = {};
  with([](auto& q) { q.accounts = {std::string(300, 'a') + "2"}; }, "a name longer than its column");
}

// A job that gave up nodes: each part counts with what it had, and says that another follows.
TEST_P(UsageStorage, PartsOfAResizedRunAreRunsOfTheirOwn) {
  JobRecord first = job(1, 0, 2, 1), last = job(1, 2, -1, 2);
  first.state = JobState::kRunning;
  first.flags = kJobResizing;
  last.first_submitted = at(0);
  last.tres_allocated = TresAmounts::from_text("cpu=1");
  store(first);
  store(last);
  std::map<Time, std::pair<Span, Time>> got;
  const auto read = [&](const rpc::JobRecordFilter& filter) {
    got.clear();
    ASSERT_TRUE(storage().used_runs(filter, RecordAudience::everybody(), {}, [&](const UsedRun& run) -> Result<> {
      got[run.used.from] = {run.used, run.resized};
      return {};
    }));
  };
  const std::map<Time, std::pair<Span, Time>> expected = {{at(0), {{at(0), at(2)}, at(2)}}, {at(2), {{at(2), kTimeInfinite}, kTimeUnset}}};
  read({});
  EXPECT_EQ(got, expected);
  rpc::JobRecordFilter whole;
  whole.max_nodes = 9;  // which only the record tells
  read(whole);
  EXPECT_EQ(got, expected);

  auto found = [&](rpc::JobRecordFilter filter) {
    auto numbers = storage().find_jobs(filter, {});
    EXPECT_TRUE(numbers);
    rpc::JobRecords part;
    size_t taken = 0;
    EXPECT_TRUE(storage().load_jobs(*numbers, false, part, taken, nullptr));
    std::vector<Time> began;
    for (const JobRecord& j : part.jobs) began.push_back(j.started);
    return began;
  };
  rpc::JobRecordFilter filter;
  EXPECT_EQ(found(filter), std::vector<Time>{at(2)}) << "the last one stands for the job";
  filter.duplicates = true;
  EXPECT_EQ(found(filter), (std::vector<Time>{at(0), at(2)}));
  filter.state_flags = kJobResizing;
  EXPECT_EQ(found(filter), std::vector<Time>{at(0)});
  filter.state_flags = 0;
  filter.states = 1u << static_cast<unsigned>(JobState::kCompleted);
  EXPECT_EQ(found(filter), std::vector<Time>{}) << "neither has completed";
  filter.states = 1u << static_cast<unsigned>(JobState::kRunning);
  filter.from = filter.until = at(3);
  EXPECT_EQ(found(filter), std::vector<Time>{at(2)}) << "the first part was over by then";
}

// A record from before amounts were values has them as a text, by another number.
TEST_P(UsageStorage, ARunOfAnOldRecordHasItsAmounts) {
  store(job(1, 0, 1, 1));
  JobRecord old = job(1, 0, 1, 1);
  old.cluster = "c";
  old.tres_allocated = {};
  std::string bytes = wire::encoded(old);
  wire::Writer(bytes).bytes(50, "cpu=3,mem=2G");
  const Value values[] = {Bytes{bytes}};
  ASSERT_TRUE(storage().connection().run("UPDATE muster_jobs SET record = ?", values));
  std::string amounts;
  ASSERT_TRUE(storage().used_runs({}, RecordAudience::everybody(), {}, [&](const UsedRun& run) -> Result<> {
    TresAmounts some;
    MUSTER_TRY_VOID(wire::decode(run.amounts, some));
    amounts = tres_text(some);
    return {};
  }));
  EXPECT_EQ(amounts, tres_text(TresAmounts::from_text("cpu=3,mem=2G")));
}

TEST_P(UsageStorage, RunsThatNobodyWaitsForAreNotRead) {
  store(job(1, 0, 1, 1));
  auto none = [](const UsedRun&) -> Result<> {
    ADD_FAILURE();
    return {};
  };
  auto done = storage().used_runs(
      {}, RecordAudience::everybody(), [] { return false; }, none);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCommunicationFailed);
}

TEST_P(UsageStorage, AJobsEnergyIsThatOfItsStepsWheneverTheyAreTold) {
  rpc::StoreRecords m;
  m.cluster = "c";
  JobRecord job;
  job.key = {JobId(7), at(0), 0};
  job.position = 3;
  job.state = JobState::kCompleted;
  job.started = at(1);
  job.ended = at(3);
  m.jobs = {job};
  const auto step = [&](StepId id, uint64_t joules, uint64_t position) {
    StepRecord s;
    s.job = job.key;
    s.id = id;
    s.position = position;
    StepUsage usage;
    add_energy(usage, joules, "n1");
    s.usage = std::make_shared<const StepUsage>(usage);
    return s;
  };
  const auto energy = [&] {
    uint64_t out = 0;
    EXPECT_TRUE(storage().jobs_within("c", at(0), at(9), [&](const JobRecord&, uint64_t joules) -> Result<> {
      out += joules;
      return {};
    }));
    return out;
  };
  ASSERT_TRUE(storage().store(m));
  EXPECT_EQ(energy(), 0u);
  rolled_until(10);
  m.jobs.clear();
  m.steps = {step(kBatchStep, 500, 4), step(StepId(0), 200, 5)};
  ASSERT_TRUE(storage().store(m));
  EXPECT_EQ(energy(), 500u) << "the batch step saw the whole of its node";
  EXPECT_EQ(changed(), (std::vector<Span>{{at(1), at(3)}})) << "rolled up again";
  m.steps = {step(StepId(1), 400, 6), step(StepId(0), 200, 5)};
  ASSERT_TRUE(storage().store(m));
  ASSERT_TRUE(storage().store(m));  // told again
  EXPECT_EQ(energy(), 600u);
  m.steps = {step(StepId(2), UINT64_MAX, 7), step(StepId(3), UINT64_MAX, 8)};  // a node that lies
  ASSERT_TRUE(storage().store(m));
  EXPECT_EQ(energy(), static_cast<uint64_t>(INT64_MAX));
}

TEST_P(UsageStorage, WhatIsOverAsItBeganIsNoEvent) {
  rpc::StoreRecords m;
  m.cluster = "c";
  EventRecord e;
  e.node = "n1";
  e.started = at(2);
  e.position = 5;
  m.events = {e};
  ASSERT_TRUE(storage().store(m));
  m.events[0].ended = e.started;
  m.events[0].position = 6;
  ASSERT_TRUE(storage().store(m));
  size_t count = 0;
  ASSERT_TRUE(storage().events_within("c", at(0), at(9), [&](const EventRecord&) -> Result<> {
    ++count;
    return {};
  }));
  EXPECT_EQ(count, 0u);
}

TEST_P(UsageStorage, EventsAndReservationsAreUpserted) {
  rolled_until(10);
  rpc::StoreRecords m;
  m.cluster = "c";
  EventRecord e;
  e.node = "n1'; DROP TABLE muster_events; --" + std::string(1000, 'x');
  e.started = at(2);
  e.position = 5;
  e.state = NodeState::kDown;
  e.reason = "disk";
  m.events = {e};
  ReservationRecord r;
  r.id = 7;
  r.name = "course";
  r.started = at(3);
  r.ended = at(4);
  r.position = 5;
  m.reservations = {r};
  ASSERT_TRUE(storage().store(m));
  EXPECT_EQ(changed(), (std::vector<Span>{{at(2), at(10)}}));
  m.events[0].ended = at(6);
  m.events[0].position = 6;
  m.reservations.clear();
  ASSERT_TRUE(storage().store(m));
  m.events[0].ended = at(9);  // older: does not count
  m.events[0].position = 4;
  ASSERT_TRUE(storage().store(m));
  std::vector<EventRecord> events;
  auto each = [&](const EventRecord& x) -> Result<> {
    events.push_back(x);
    return {};
  };
  ASSERT_TRUE(storage().events_within("c", at(5), at(6), each));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].ended, at(6));
  EXPECT_EQ(events[0].node, e.node);
  ASSERT_TRUE(storage().events_within("c", at(6), at(7), each));
  EXPECT_EQ(events.size(), 1u);
  size_t reservations = 0;
  ASSERT_TRUE(storage().reservations_within("c", at(0), at(10), [&](const ReservationRecord& x) -> Result<> {
    ++reservations;
    EXPECT_EQ(x.name, "course");
    EXPECT_EQ(x.cluster, "c");
    return {};
  }));
  EXPECT_EQ(reservations, 1u);
}

// A record as it was while amounts of TRES were texts.
struct OldJob {
  JobRecordKey key;
  uint64_t position = 0;
  std::string cluster, account;
  JobState state{};
  Time started{}, ended{};
  std::string requested, allocated;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "key", self.key);
    field(2, "position", self.position);
    field(3, "cluster", self.cluster);
    field(7, "state", self.state);
    field(12, "started", self.started);
    field(13, "ended", self.ended);
    field(22, "account", self.account);
    field(49, "tres_requested", self.requested);
    field(50, "tres_allocated", self.allocated);
  }
};

TEST_P(UsageStorage, ADatabaseOfVersion1KeepsItsJobs) {
  constexpr std::string_view kVersion1[] = {
      "CREATE TABLE IF NOT EXISTS muster_meta(name {name}, value BIGINT NOT NULL, PRIMARY KEY(name)){end}",
      "CREATE TABLE IF NOT EXISTS muster_jobs(id {id}, cluster {name}, job BIGINT NOT NULL, submitted BIGINT NOT NULL,"
      " restarts BIGINT NOT NULL, position BIGINT NOT NULL, head BIGINT NOT NULL, uid BIGINT NOT NULL, gid BIGINT NOT NULL,"
      " account {name}, part {name}, name {name}, qos {name}, wckey {name}, state BIGINT NOT NULL, eligible BIGINT NOT NULL,"
      " started BIGINT NOT NULL, ended BIGINT NOT NULL, record {bytes}, UNIQUE(job, cluster, submitted, restarts)){end}",
      "CREATE TABLE IF NOT EXISTS muster_steps(cluster {name}, job BIGINT NOT NULL, submitted BIGINT NOT NULL,"
      " restarts BIGINT NOT NULL, step BIGINT NOT NULL, position BIGINT NOT NULL, record {bytes},"
      " PRIMARY KEY(job, cluster, submitted, restarts, step)){end}",
      "CREATE TABLE IF NOT EXISTS muster_entities(kind BIGINT NOT NULL, name {name}, record {bytes}, PRIMARY KEY(kind, name)){end}",
      "CREATE TABLE IF NOT EXISTS muster_transactions(id {id}, time BIGINT NOT NULL, actor {name}, record {bytes}){end}",
      "CREATE INDEX muster_jobs_head ON muster_jobs(head)",
      "CREATE INDEX muster_jobs_ended ON muster_jobs(ended)",
      "INSERT INTO muster_meta(name, value) VALUES('schema', 1)",
  };
  auto c = connect();
  for (std::string_view statement : kVersion1) {
    auto ok = c->run(c->spelled(statement));
    ASSERT_TRUE(ok) << statement << ": " << ok.error().message();
  }
  OldJob old;
  old.key = {JobId(7), at(0), 0};
  old.position = 3;
  old.cluster = "c";
  old.account = "a";
  old.state = JobState::kCompleted;
  old.started = at(1);
  old.ended = at(3);
  old.allocated = "cpu=4,mem=1.50G,node=1,billing=4,gres/gpu=2";
  const std::string record = wire::encoded(old);
  const Value values[] = {Bytes{record}, at(0).time_since_epoch().count(), at(1).time_since_epoch().count(),
                          at(3).time_since_epoch().count()};
  auto put = c->run("INSERT INTO muster_jobs(record, submitted, started, ended, cluster, job, restarts, position, head, uid, gid, account,"
                    " part, name, qos, wckey, state, eligible) VALUES(?,?,?,?,'c',7,0,3,7,1000,1000,'a','p','n','','',3,0)",
                    values);
  ASSERT_TRUE(put) << put.error().message();
  c.reset();

  EXPECT_EQ(*schema_version(storage().connection()), kSchemaVersion);
  size_t found = 0;
  ASSERT_TRUE(storage().jobs_within("c", at(2), at(3), [&](const JobRecord& j, uint64_t) -> Result<> {
    ++found;
    EXPECT_EQ(tres_text(j.tres_allocated), old.allocated);
    EXPECT_EQ(used_span(j), (Span{at(1), at(3)}));
    return {};
  }));
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(*storage().first_time("c"), at(0));
  rolled_until(5);
  EXPECT_EQ(storage().usage_state("c")->rolled, at(5));
  storage_.reset();
  EXPECT_EQ(*schema_version(storage().connection()), kSchemaVersion);  // opened again, nothing is made anew
  EXPECT_EQ(storage().usage_state("c")->rolled, at(5));
}

INSTANTIATE_TEST_SUITE_P(Both, UsageStorage, testing::Values("sqlite", "mariadb"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace muster::sql
