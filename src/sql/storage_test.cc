// What Storage promises, of both kinds of database: one suite, run against SQLite and a real MariaDB.
#include "sql/storage.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <map>
#include <memory>

#include "sql/testing.h"

namespace muster::sql {
namespace {

PrivateMariaDb* server() {
  static std::unique_ptr<PrivateMariaDb> one = [] {
    auto s = std::make_unique<PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

class StorageTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (maria()) {
      if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      database_ = "muster_" + std::to_string(++databases);
    }
    storage_ = open();
  }
  bool maria() const { return std::string(GetParam()) == "mariadb"; }
  std::unique_ptr<Storage> open() {
    auto c = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
    EXPECT_TRUE(c) << (c ? "" : c.error().message());
    if (!c) return nullptr;
    auto s = Storage::open(std::move(*c));
    EXPECT_TRUE(s) << (s ? "" : s.error().message());
    return s ? std::move(*s) : nullptr;
  }
  void store(std::vector<JobRecord> jobs, std::vector<StepRecord> steps = {}, const std::string& cluster = "c") {
    rpc::StoreRecords m;
    m.cluster = cluster;
    m.jobs = std::move(jobs);
    m.steps = std::move(steps);
    auto ok = storage_->store(m);
    ASSERT_TRUE(ok) << ok.error().message();
  }
  rpc::JobRecords ask(const rpc::JobRecordFilter& f) {
    rpc::JobRecords out;
    auto numbers = storage_->find_jobs(f, RecordAudience::everybody());
    EXPECT_TRUE(numbers) << (numbers ? "" : numbers.error().message());
    if (!numbers) return out;
    std::span<const int64_t> rest = *numbers;
    int64_t next_step = 0;
    most_steps_ = 0;
    while (!rest.empty()) {
      rpc::JobRecords part;
      size_t taken = 0;
      const bool goes_on = next_step != 0;
      auto ok = storage_->load_jobs(rest, f.steps, part, taken, &next_step);
      EXPECT_TRUE(ok) << (ok ? "" : ok.error().message());
      if (!ok || (!taken && !next_step)) break;
      rest = rest.subspan(taken);
      most_steps_ = std::max(most_steps_, part.steps.size());
      out.jobs.insert(out.jobs.end(), part.jobs.begin() + goes_on, part.jobs.end());
      out.steps.insert(out.steps.end(), part.steps.begin(), part.steps.end());
    }
    return out;
  }
  std::vector<uint32_t> ids(const rpc::JobRecordFilter& f) {
    std::vector<uint32_t> out;
    for (const JobRecord& r : ask(f).jobs) out.push_back(r.key.id.value);
    return out;
  }

  TemporaryDirectory directory_;
  std::string database_;
  size_t most_steps_ = 0;  // in one part of the last answer
  std::unique_ptr<Storage> storage_;
};

Time at(int64_t minute) { return from_unix(1'700'000'000) + minutes(minute); }

JobRecord job(uint32_t id, const std::function<void(JobRecord&)>& change = {}) {
  JobRecord r;
  r.key = {JobId(id), at(0), 0};
  r.position = 1;
  r.uid = Uid(1000);
  r.user = "alice";
  r.name = "train";
  r.account = "team-a";
  r.partition = "gpu";
  r.state = JobState::kCompleted;
  r.started = at(10);
  r.ended = at(20);
  r.node_list = "n[1-4]";
  if (change) change(r);
  return r;
}
StepRecord step(uint32_t id, StepId number, uint64_t position = 1) {
  StepRecord s;
  s.job = {JobId(id), at(0), 0};
  s.id = number;
  s.position = position;
  s.name = "s" + std::to_string(number.value);
  return s;
}

TEST_P(StorageTest, AQuestionFindsWhatItsAudienceMaySee) {
  auto of = [](uint32_t uid, const char* account) {
    return [=](JobRecord& r) { r.uid = Uid(uid), r.account = account, r.tres_allocated.cpus = 1; };
  };
  store({job(1, of(1000, "lab")), job(2, of(1001, "lab")), job(3, of(1001, "other")), job(4, of(1001, "' OR '1'='1"))});
  store({job(5, of(1001, "lab"))}, {}, "d");
  auto seen = [&](const rpc::JobRecordFilter& filter, const RecordAudience& who) {
    auto numbers = storage_->find_jobs(filter, who);
    size_t matching = 0, used = 0;
    EXPECT_TRUE(storage_->matching_jobs(filter, who, {}, [&](const JobRecord&) { return ++matching, Result<>(); }));
    EXPECT_TRUE(storage_->used_runs(filter, who, {}, [&](const UsedRun&) { return ++used, Result<>(); }));
    EXPECT_TRUE(numbers && matching == numbers->size() && used == matching);
    return matching;
  };
  EXPECT_EQ(seen({}, RecordAudience::everybody()), 5u);
  RecordAudience who{.uid = Uid(1000)};
  EXPECT_EQ(seen({}, who), 1u) << "his own";
  who.accounts["c"] = {"lab"};
  EXPECT_EQ(seen({}, who), 2u) << "and those of his account on that cluster";
  EXPECT_EQ(seen({.users = {Uid(1001)}}, who), 1u);
  EXPECT_EQ(seen({.partitions = {"gpu"}}, who), 2u) << "by whole records";
  for (int i = 0; i < 600; ++i) who.accounts["c"].insert("account" + std::to_string(i));  // more than a statement names
  EXPECT_EQ(seen({}, who), 2u);
  who.accounts = {{"c", {"nosuch"}}, {"d", {"lab"}}};
  EXPECT_EQ(seen({}, who), 2u);
}

TEST_P(StorageTest, ARecordComesBackWholeAfterAReopen) {
  store({job(1,
             [](JobRecord& r) {
               r.comment = std::string("quo'te \\ \0 zero", 14);
               r.submit_line = std::string(100'000, 'x');
               r.exit_status = -1;
               r.name = "n\xff\xfe";
             })},
        {step(1, kBatchStep), step(1, StepId(0))});
  storage_ = open();
  auto got = ask({});
  ASSERT_EQ(got.jobs.size(), 1u);
  EXPECT_EQ(got.jobs[0].comment.size(), 14u);
  EXPECT_EQ(got.jobs[0].submit_line.size(), 100'000u);
  EXPECT_EQ(got.jobs[0].exit_status, -1);
  EXPECT_EQ(got.jobs[0].name, "n\xff\xfe");
  EXPECT_EQ(got.jobs[0].cluster, "c");
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.steps[0].id, kBatchStep);
  EXPECT_EQ(got.steps[1].id, StepId(0));
}

// As one part it would be longer than a frame, and sacct would get an error.
TEST_P(StorageTest, TheStepsOfALargeJobComeInSeveralParts) {
  std::vector<StepRecord> steps = {step(2, kBatchStep), step(2, kExternStep), step(3, kBatchStep)};
  for (uint32_t i = 0; i < 5000; ++i) steps.push_back(step(2, StepId(i)));
  store({job(1), job(2), job(3)}, std::move(steps));
  auto got = ask({});
  EXPECT_LE(most_steps_, kPartSteps);
  ASSERT_EQ(got.jobs.size(), 3u);
  ASSERT_EQ(got.steps.size(), 5003u);
  EXPECT_EQ(got.steps[0].id, kBatchStep);
  EXPECT_EQ(got.steps[1].id, kExternStep);
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(got.steps[i + 2].id, StepId(i));
  EXPECT_EQ(got.steps.back().job.id, JobId(3));
}

TEST_P(StorageTest, LongRecordsComeInSeveralParts) {
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 100; ++id) jobs.push_back(job(id, [](JobRecord& r) { r.submit_line.assign(100'000, 'x'); }));
  store(std::move(jobs));
  auto numbers = storage_->find_jobs({}, RecordAudience::everybody());
  ASSERT_TRUE(numbers);
  rpc::JobRecords part;
  size_t taken = 0;
  ASSERT_TRUE(storage_->load_jobs(*numbers, false, part, taken));
  EXPECT_LE(taken, kPartBytes / 100'000 + 1);
  EXPECT_EQ(ids({}).size(), 100u);
}

TEST_P(StorageTest, TheHigherPositionStandsWhateverComesLast) {
  store({job(1, [](JobRecord& r) { r.position = 9; })}, {step(1, StepId(0), 9)});
  store({job(1,
             [](JobRecord& r) {
               r.position = 5;
               r.state = JobState::kRunning;
               r.ended = kTimeUnset;
             })},
        {[] {
          auto s = step(1, StepId(0), 5);
          s.name = "old";
          return s;
        }()});
  auto got = ask({});
  ASSERT_EQ(got.jobs.size(), 1u);
  EXPECT_EQ(got.jobs[0].state, JobState::kCompleted);
  ASSERT_EQ(got.steps.size(), 1u);
  EXPECT_EQ(got.steps[0].name, "s0");
  store({job(1, [](JobRecord& r) {
    r.position = 10;
    r.state = JobState::kFailed;
  })});
  EXPECT_EQ(ask({}).jobs[0].state, JobState::kFailed);
}

TEST_P(StorageTest, TwoClustersHaveTheirOwnJobOne) {
  store({job(1)}, {step(1, StepId(0))}, "b");
  store({job(1, [](JobRecord& r) { r.name = "other"; })}, {}, "a");
  auto got = ask({});
  ASSERT_EQ(got.jobs.size(), 2u);
  EXPECT_EQ(got.jobs[0].cluster, "a");
  EXPECT_EQ(got.jobs[1].cluster, "b");
  EXPECT_EQ(got.steps.size(), 1u);
  rpc::JobRecordFilter f;
  f.clusters = {"a"};
  EXPECT_EQ(ask(f).jobs[0].name, "other");
  EXPECT_TRUE(ask(f).steps.empty());
}

TEST_P(StorageTest, OnlyTheLastRunUnlessAllAreAskedFor) {
  store({job(7), job(7, [](JobRecord& r) {
           r.key.restarts = 1;
           r.key.submitted = r.eligible = at(30);
           r.state = JobState::kPending;
           r.started = r.ended = kTimeUnset;
         })});
  auto got = ask({});
  ASSERT_EQ(got.jobs.size(), 1u);
  EXPECT_EQ(got.jobs[0].state, JobState::kPending);
  rpc::JobRecordFilter f;
  f.duplicates = true;
  EXPECT_EQ(ask(f).jobs.size(), 2u);
  f.duplicates = false;
  f.jobs = {{.job = JobId(7), .sluid = job(7).sluid()}, {.job = JobId(7)}};
  EXPECT_EQ(ask(f).jobs.size(), 2u) << "the run that is named, and the last of the job";
}

TEST_P(StorageTest, FiltersByWhatColumnsHoldAndByWhatTheyDoNot) {
  store({job(1), job(2, [](JobRecord& r) { r.uid = Uid(2000); }), job(3, [](JobRecord& r) { r.account = "team-b"; }),
         job(4, [](JobRecord& r) { r.partition = "cpu,gpu"; }), job(5, [](JobRecord& r) { r.node_list = "n[8-9]"; }),
         job(6, [](JobRecord& r) {
           r.cpus = 64;
           r.name = "TRAIN";
         })});
  rpc::JobRecordFilter f;
  f.users = {Uid(2000)};
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{2}));
  f = {};
  f.accounts = {"team-b", "none"};
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{3}));
  f = {};
  f.partitions = {"cpu"};
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{4}));
  f = {};
  f.nodes = {"n[7-8]"};
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{5}));
  f = {};
  f.min_cpus = 64;
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{6}));
  f = {};
  f.names = {"train"};
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1, 2, 3, 4, 5}));  // upper and lower case differ
}

TEST_P(StorageTest, SelectsTasksOfArrays) {
  auto task = [](uint32_t id, uint32_t index) {
    return job(id, [&](JobRecord& r) {
      r.array_job_id = JobId(10);
      r.array_task = index;
    });
  };
  store({task(11, 0), task(12, 1),
         job(10,
             [](JobRecord& r) {
               r.array_job_id = JobId(10);
               r.array_tasks = "2-7%2";
               r.state = JobState::kPending;
               r.started = r.ended = kTimeUnset;
             }),
         job(13)});
  rpc::JobRecordFilter f;
  f.jobs.emplace_back().job = JobId(10);
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{10, 11, 12}));
  f.jobs[0].array_task = 1;
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{12}));
  f.jobs[0].array_task = 5;
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{10}));
  f.jobs[0].array_task = kNoArrayTask;
  f.jobs[0].array_tasks = "1-2";
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{10, 12}));
  f.jobs[0].array_tasks = "1,8";
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{12}));
  f.jobs[0] = {};
  f.jobs[0].job = JobId(12);
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{12}));
}

TEST_P(StorageTest, ASearchThatNobodyWaitsForEnds) {
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 2000; ++id) jobs.push_back(job(id));
  store(std::move(jobs));
  int asked = 0;
  EXPECT_FALSE(storage_->find_jobs({}, RecordAudience::everybody(), [&] { return ++asked < 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(ids({}).size(), 2000u);
}

// A list per record and selector took hours.
TEST_P(StorageTest, LongListsAreMadeReadyOnce) {
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 500; ++id) jobs.push_back(job(id, [](JobRecord& r) { r.node_list = "n[1-2000]"; }));
  store(std::move(jobs));
  rpc::JobRecordFilter f;
  for (uint32_t i = 0; i < 20'000; ++i) f.nodes.push_back("x" + std::to_string(i));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(ids(f).empty());
  f.nodes.push_back("n[2000-2001]");
  EXPECT_EQ(ids(f).size(), 500u);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

TEST_P(StorageTest, ListsThatAreTooLongAreRefused) {
  rpc::JobRecordFilter f;
  f.nodes = {"a[1-60000]", "b[1-60000]"};
  EXPECT_EQ(storage_->find_jobs(f, RecordAudience::everybody()).error().code, Errc::kInvalidNodeName);
  f.nodes = {"n["};
  EXPECT_EQ(storage_->find_jobs(f, RecordAudience::everybody()).error().code, Errc::kInvalidNodeName);
  f.nodes.clear();
  for (uint32_t id = 1; id <= 20; ++id) {
    auto& s = f.jobs.emplace_back();
    s.job = JobId(id);
    s.array_tasks = "4000000";
  }
  EXPECT_EQ(storage_->find_jobs(f, RecordAudience::everybody()).error().code, Errc::kInvalidArray);
  f.jobs.resize(2);
  EXPECT_TRUE(storage_->find_jobs(f, RecordAudience::everybody()));
}

TEST_P(StorageTest, StatesAreThoseOfTheTimeAskedAbout) {
  // Pending from 0, running from 10 to 20.
  store({job(1)});
  auto found = [&](JobState state, int64_t from, int64_t until) {
    rpc::JobRecordFilter f;
    f.states = 1u << static_cast<unsigned>(state);
    f.from = at(from);
    f.until = at(until);
    return !ids(f).empty();
  };
  EXPECT_TRUE(found(JobState::kPending, 5, 6));
  EXPECT_FALSE(found(JobState::kRunning, 5, 6));
  EXPECT_TRUE(found(JobState::kRunning, 15, 16));
  EXPECT_TRUE(found(JobState::kRunning, 15, 15));
  EXPECT_FALSE(found(JobState::kPending, 15, 16));
  EXPECT_FALSE(found(JobState::kCompleted, 15, 16));
  EXPECT_TRUE(found(JobState::kCompleted, 15, 25));
  EXPECT_FALSE(found(JobState::kCompleted, 25, 30));
  EXPECT_FALSE(found(JobState::kFailed, 0, 30));
  rpc::JobRecordFilter f;
  f.from = at(21);
  EXPECT_TRUE(ids(f).empty());
  f.from = at(19);
  EXPECT_EQ(ids(f).size(), 1u);
  f = {};
  f.until = at(-5);
  EXPECT_TRUE(ids(f).empty());
}

TEST_P(StorageTest, WhatIsNotEligibleYetIsForThoseWhoNameIt) {
  auto waits = [](Time eligible) {
    return [=](JobRecord& r) {
      r.state = JobState::kPending;
      r.eligible = eligible;
      r.started = r.ended = kTimeUnset;
    };
  };
  store({job(1, waits(at(5))), job(2, waits(kTimeUnset)), job(3, waits(at(50)))});
  rpc::JobRecordFilter f;
  f.until = at(20);
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1}));
  f.until = at(60);
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1, 3}));
  f.jobs.resize(3);
  for (uint32_t i = 0; i < 3; ++i) f.jobs[i].job = JobId(i + 1);
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1, 2, 3}));
  f.states = 1u << static_cast<unsigned>(JobState::kPending);  // and they are in no state
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1, 3}));
  f = {};
  f.from = f.until = at(20);
  f.ineligible = true;
  EXPECT_EQ(ids(f), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_TRUE(storage_->any_job({}, "", "").value_or(false));
}

TEST_P(StorageTest, WhatHasNotEndedIsInEveryLaterWindow) {
  store({job(1, [](JobRecord& r) {
    r.state = JobState::kRunning;
    r.ended = kTimeUnset;
  })});
  rpc::JobRecordFilter f;
  f.from = at(100'000);
  EXPECT_EQ(ids(f).size(), 1u);
  f.states = 1u << static_cast<unsigned>(JobState::kRunning);
  EXPECT_EQ(ids(f).size(), 1u);
  f.states = 1u << static_cast<unsigned>(JobState::kPending);
  EXPECT_TRUE(ids(f).empty());
}

TEST_P(StorageTest, EntitiesAndTransactions) {
  EntityChanges c;
  c.put = {{Entity::kAccount, "root", "r1"}, {Entity::kQos, "normal", std::string("\0x", 2)}};
  TransactionRecord t;
  t.time = at(1);
  t.actor = "root";
  t.action = "Add Accounts";
  c.transactions = {t};
  ASSERT_TRUE(storage_->change_entities(c));
  c = {};
  c.put = {{Entity::kAccount, "root", "r2"}, {Entity::kAccount, "a", "x"}};
  c.gone = {{Entity::kQos, "normal"}};
  t.time = at(5);
  t.action = "Modify";
  c.transactions = {t};
  ASSERT_TRUE(storage_->change_entities(c));
  storage_ = open();
  auto rows = storage_->load_entities();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  std::map<std::string, std::string> by_name;
  for (const EntityRow& r : *rows) by_name[r.name] = r.record;
  EXPECT_EQ(by_name["root"], "r2");
  EXPECT_EQ(by_name["a"], "x");
  std::vector<TransactionRecord> all;
  auto keep = [&](TransactionRecord r) -> Result<> {
    all.push_back(std::move(r));
    return {};
  };
  ASSERT_TRUE(storage_->transactions(kTimeUnset, kTimeUnset, keep));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_LT(all[0].id, all[1].id);
  EXPECT_EQ(all[1].action, "Modify");
  all.clear();
  ASSERT_TRUE(storage_->transactions(at(2), at(9), keep));
  EXPECT_EQ(all.size(), 1u);
}

// An empty name is one, also where the view of it points nowhere: a database that took it for NULL would refuse the row.
TEST_P(StorageTest, AnEmptyTextIsNoNull) {
  Connection& connection = storage_->connection();
  const Value values[] = {Text{}, int64_t{7}};
  const Result<> put = connection.run("INSERT INTO muster_meta(name, value) VALUES(?,?)", values);
  ASSERT_TRUE(put) << put.error().message();
  int64_t found = 0;
  ASSERT_TRUE(connection.query("SELECT value FROM muster_meta WHERE name = ?", std::span(values).first(1), [&](const Row& row) -> Result<> {
    found = row.number(0);
    return {};
  }));
  EXPECT_EQ(found, 7);
}

TEST_P(StorageTest, ANewerSchemaIsRefused) {
  const Value v[] = {int64_t{99}};
  ASSERT_TRUE(storage_->connection().run("UPDATE muster_meta SET value = ?", v));
  auto c = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
  ASSERT_TRUE(c);
  auto s = Storage::open(std::move(*c));
  ASSERT_FALSE(s);
  EXPECT_NE(std::string(s.error().message()).find("newer Muster"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Databases, StorageTest, testing::Values("sqlite", "mariadb"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MariaDb, AServerThatWasRestartedIsFoundAgain) {
  if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
  PrivateMariaDb own;
  ASSERT_TRUE(own.start());
  auto c = open_mariadb(own.options("acct"));
  ASSERT_TRUE(c);
  auto s = Storage::open(std::move(*c));
  ASSERT_TRUE(s);
  rpc::StoreRecords m;
  m.cluster = "c";
  m.jobs = {job(1)};
  ASSERT_TRUE((*s)->store(m));
  own.stop(SIGKILL);
  auto away = (*s)->store(m);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, Errc::kAccountingUnavailable);
  ASSERT_TRUE(own.run_server());
  m.jobs = {job(2)};
  EXPECT_TRUE((*s)->store(m));
  auto found = (*s)->find_jobs({}, RecordAudience::everybody());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 2u);
}

TEST(MariaDb, OfManyRowsFewAreInMemory) {
  if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
  ASSERT_NE(server(), nullptr);
  auto c = open_mariadb(server()->options("many"));
  ASSERT_TRUE(c);
  auto in_use = [] {
    struct mallinfo2 m = ::mallinfo2();
    return m.uordblks + m.hblkhd;
  };
  const std::string rows =
      "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, REPEAT('x', 1000000) FROM n";
  const size_t before = in_use();
  size_t most = 0, bytes = 0;
  ASSERT_TRUE((*c)->scan(rows, {}, [&](const Row& r) -> Result<> {
    most = std::max(most, in_use());
    bytes += r.bytes(1).size();
    return {};
  }));
  EXPECT_EQ(bytes, 200'000'000u);
  EXPECT_LT(most, before + 50'000'000);
  // Given up in the middle: the next statement works.
  EXPECT_FALSE((*c)->scan(rows, {}, [](const Row&) -> Result<> { return fail(Errc::kResultTooLarge); }));
  EXPECT_TRUE((*c)->run("SELECT 1"));
  EXPECT_TRUE((*c)->scan("SELECT 1", {}, [](const Row&) -> Result<> { return {}; }));
}

// Its host was stopped, or the network in between swallows everything: neither the writer nor an end of slurmdbd waits for ever.
TEST(MariaDb, AServerThatIsSilentIsAway) {
  if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
  ASSERT_NE(server(), nullptr);
  MariaDbOptions options = server()->options("silent");
  options.answer_seconds = 1;
  auto c = open_mariadb(options);
  ASSERT_TRUE(c);
  auto done = (*c)->run("SELECT SLEEP(20)");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kAccountingUnavailable);
  EXPECT_TRUE((*c)->run("SELECT 1"));
}

TEST(Sqlite, ADamagedFileIsRefusedByName) {
  TemporaryDirectory d;
  std::string path = d.path + "/accounting.db";
  FILE* f = ::fopen(path.c_str(), "w");
  ASSERT_TRUE(f);
  ::fputs("this is no database, but long enough to look like one", f);
  ::fclose(f);
  auto c = open_sqlite(path);
  ASSERT_FALSE(c);
  EXPECT_NE(std::string(c.error().message()).find(path), std::string::npos);
}

// Somebody looks into the file with a program of his own, and closes it: what is stored afterwards is there all the same.
TEST(Sqlite, AnotherProgramThatClosesTheFileTakesNothingAway) {
  TemporaryDirectory d;
  const std::string path = d.path + "/accounting.db";
  auto writer = Storage::open(std::move(*open_sqlite(path)));
  auto reader = Storage::open(std::move(*open_sqlite(path)));
  ASSERT_TRUE(writer && reader);
  ASSERT_EQ(std::system(("sqlite3 " + path + " 'CREATE TABLE mine(x); DROP TABLE mine'").c_str()), 0);
  rpc::StoreRecords m;
  m.cluster = "c";
  m.jobs = {job(1)};
  ASSERT_TRUE((*writer)->store(m));
  EXPECT_EQ((*reader)->find_jobs({}, RecordAudience::everybody())->size(), 1u);
  EXPECT_EQ(std::system(("test \"$(sqlite3 " + path + " 'SELECT count(*) FROM muster_jobs')\" = 1").c_str()), 0);
}

TEST(Sqlite, OneOfManyIsFoundByAnIndex) {
  TemporaryDirectory d;
  auto c = open_sqlite(d.path + "/accounting.db");
  ASSERT_TRUE(c);
  auto s = Storage::open(std::move(*c));
  ASSERT_TRUE(s);
  for (std::string where : {"job IN (5) OR head IN (5)", "uid = 1000 AND ended >= 5", "account = 'a' AND ended >= 5", "ended >= 5"}) {
    std::string plan;
    ASSERT_TRUE((*s)->connection().query("EXPLAIN QUERY PLAN SELECT id FROM muster_jobs WHERE " + where, {}, [&](const Row& r) -> Result<> {
      plan += std::string(r.bytes(3)) + "\n";
      return {};
    }));
    EXPECT_EQ(plan.find("SCAN"), std::string::npos) << where << ": " << plan;
  }
}

}  // namespace
}  // namespace muster::sql
