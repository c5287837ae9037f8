// Purging beside roll-ups: what the reports say of a time is the same before its records go and afterwards.
#include "slurmdbd/daemon/purging.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/random.h"
#include "slurmdbd/daemon/archive_file.h"
#include "slurmdbd/daemon/usage_rolling.h"
#include "sql/testing.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

using config::PurgeAge;
using config::PurgeUnit;

constexpr Duration kDay = minutes(24 * 60);

sql::PrivateMariaDb* server() {
  static std::unique_ptr<sql::PrivateMariaDb> one = [] {
    auto s = std::make_unique<sql::PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

class PurgingTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("TZ", "Europe/Zurich", 1);
    tzset();
    if (std::string(GetParam()) == "mariadb") {
      if (!sql::PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      open(sql::open_mariadb(server()->options("muster_purging_" + std::to_string(++databases))));
    } else {
      open(sql::open_sqlite(directory_.path + "/a.db"));
    }
    known.clusters["c"].name = "c";
    os::LogOptions options;
    options.async = false;
    log = std::move(*os::Log::open(options));
    settings.purge.most_rows = 10;
    settings.archive.directory = directory_.path + "/archive";
    ASSERT_EQ(::mkdir(settings.archive.directory.c_str(), 0700), 0);
  }
  void open(Result<std::unique_ptr<sql::Connection>> connection) {
    ASSERT_TRUE(connection);
    auto opened = sql::Storage::open(std::move(*connection));
    ASSERT_TRUE(opened);
    storage = std::move(*opened);
  }
  JobRecord job(uint32_t id, Time from, Time until) {
    JobRecord record;
    record.key = {JobId(id), from, 0};
    record.position = ++position;
    record.account = "a" + std::to_string(random.uniform(0, 3));
    record.user = "u" + std::to_string(random.uniform(0, 5));
    record.eligible = record.started = from;
    record.ended = until;
    record.state = until == kTimeUnset ? JobState::kRunning : JobState::kCompleted;
    record.tres_allocated = record.tres_requested = TresAmounts{.cpus = random.uniform(1, 64)};
    return record;
  }
  JobRecord random_job(uint32_t id) {
    const Time from = start + minutes(static_cast<int64_t>(random.uniform(0, 60 * 24 * 50)));
    return job(id, from, from + minutes(static_cast<int64_t>(random.uniform(1, 5000))));
  }
  void store(std::vector<JobRecord> jobs, std::vector<EventRecord> events = {}) {
    rpc::StoreRecords records;
    records.cluster = "c";
    records.jobs = std::move(jobs);
    records.events = std::move(events);
    auto stored = storage->store(records);
    ASSERT_TRUE(stored) << stored.error().message();
  }
  void roll(Time now) {
    for (int i = 0; i < 1000; ++i) {
      auto more = roll_some(*storage, known, "c", now);
      ASSERT_TRUE(more) << more.error().message();
      if (!*more) return;
    }
    FAIL() << "there is always more to roll";
  }
  // Purges until it is to wait; returns until when.
  Time purge(Time now) {
    Purging walk(*storage, *log, std::make_shared<const Settings>(settings), {settings.archive.directory, {}}, Uid(::geteuid()));
    failed = walk.begin(known, now);
    for (int pieces = 0; failed && !walk.over(); ++pieces) {
      failed = walk.piece();
      if (pieces < 1000) continue;
      ADD_FAILURE() << "there is always more to purge";
      break;
    }
    purged = walk.purged();
    return next_purge(now, walk.roll_ups_behind());
  }
  std::vector<std::string> files() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(settings.archive.directory)) out.push_back(entry.path().filename());
    std::ranges::sort(out);
    return out;
  }
  // Brings back all that the files of the last purge() have.
  sql::Restored load() {
    sql::Restored counts;
    for (const rpc::PurgedRecords& gone : purged)
      for (const std::string& file : gone.files) {
        auto reader = ArchiveReader::open({settings.archive.directory, {std::filesystem::path(file).filename()}}, Uid(::geteuid()));
        EXPECT_TRUE(reader) << (reader ? "" : reader.error().message());
        if (!reader) continue;
        for (;;) {
          auto part = reader->next();
          EXPECT_TRUE(part) << (part ? "" : part.error().message());
          if (!part || !*part) break;
          auto restored = storage->restore(**part, counts);
          EXPECT_TRUE(restored) << restored.error().message();
        }
      }
    return counts;
  }
  Usage report(Time from, Time until, Time now) {
    rpc::QueryUsage question;
    question.parts = kUsageAccount | kUsageUser;
    auto got =
        usage_within(*storage, known, "c", hour_not_before(from), until, now, UsageSelection(question, "c", RecordAudience::everybody()));
    EXPECT_TRUE(got) << (got ? "" : got.error().message());
    return got ? *got : Usage();
  }
  // What reports say of each day, of the months and of all of it.
  std::vector<Usage> reports(Time now) {
    const Time first = period_begin(UsagePeriod::kMonth, start);
    std::vector<Usage> out = {report(first, period_begin(UsagePeriod::kHour, now), now)};
    for (UsagePeriod period : {UsagePeriod::kDay, UsagePeriod::kMonth})
      for (Time from = first; from < now; from = period_after(period, from)) out.push_back(report(from, period_after(period, from), now));
    return out;
  }
  size_t jobs_before(Time until) {
    size_t count = 0;
    EXPECT_TRUE(storage->jobs_within("c", start - kDay * 100, kTimeInfinite - kDay, [&](const JobRecord& record, uint64_t) -> Result<> {
      count += record.ended != kTimeUnset && record.ended < until;
      return {};
    }));
    return count;
  }

  sql::TemporaryDirectory directory_;
  std::unique_ptr<sql::Storage> storage;
  std::unique_ptr<os::Log> log;
  Result<> failed;  // how the last purge() ended
  std::vector<rpc::PurgedRecords> purged;
  Settings settings;
  Directory known;
  Random random{7};
  uint64_t position = 0;
  const Time start = from_unix(1'790'000'000);  // 2026-09-21
};

TEST_P(PurgingTest, ReportsStayWhatTheyWereAlsoWhenARecordComesLate) {
  EventRecord made;
  made.started = start - kDay;
  made.tres = TresAmounts::from_text("cpu=1000");
  EventRecord down;
  down.node = "n1";
  down.state = NodeState::kDown;
  down.position = ++position;
  down.started = start + kDay;
  down.ended = start + kDay * 3;
  down.tres = TresAmounts::from_text("cpu=50");
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 200; ++id) jobs.push_back(random_job(id));
  const JobRecord running = job(900, start + kDay, kTimeUnset);
  jobs.push_back(running);
  store(jobs, {made, down});
  const Time now = start + kDay * 55 + seconds(1234);
  roll(now);
  const std::vector<Usage> before = reports(now);
  ASSERT_FALSE(before.front().entries.empty());

  settings.purge.jobs = settings.purge.events = PurgeAge{20, PurgeUnit::kDay};
  const Time whole = purge_before(*settings.purge.jobs, now);
  ASSERT_GT(jobs_before(whole), 50u);
  EXPECT_EQ(purge(now), period_after(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now)));
  EXPECT_EQ(jobs_before(whole), 0u);
  EXPECT_GT(jobs_before(now), 10u);
  EXPECT_EQ(reports(now), before);

  store({job(901, start + kDay * 2, start + kDay * 4)});  // late, of a time that is purged
  roll(now);
  EXPECT_EQ(reports(now), before);
  purge(now);
  EXPECT_EQ(jobs_before(whole), 0u);

  // One that reaches into the time whose records are whole counts from there on.
  const Usage purged_time = report(start, whole, now);
  const Time until = period_begin(UsagePeriod::kHour, whole + kDay);
  JobRecord across = job(902, whole - kDay, until);
  across.account = "late";
  across.tres_allocated = TresAmounts{.cpus = 1};
  store({across});
  roll(now);
  EXPECT_EQ(report(start, whole, now), purged_time);
  uint64_t seconds_used = 0;
  for (const UsageEntry& entry : report(start, period_begin(UsagePeriod::kHour, now), now).entries)
    if (entry.key.account == "late") seconds_used += entry.used.cpus.value_or(0);
  EXPECT_EQ(seconds_used, static_cast<uint64_t>(to_seconds(until - whole)));
}

TEST_P(PurgingTest, NothingGoesBeforeItIsRolledUp) {
  settings.purge.jobs = PurgeAge{1, PurgeUnit::kDay};
  store({job(1, start, start + minutes(90)), job(2, start + kDay, start + kDay + minutes(90))});
  const Time now = start + kDay * 5;
  EXPECT_EQ(purge(now), now + minutes(1));
  EXPECT_EQ(jobs_before(now), 2u);
  roll(start + kDay);
  purge(now);
  EXPECT_EQ(jobs_before(now), 1u);

  roll(now);
  JobRecord changed = job(2, start + kDay, start + kDay + minutes(90));
  changed.account = "other";
  store({changed});
  EXPECT_EQ(purge(now), now + minutes(1)) << "its time is to be rolled again";
  EXPECT_EQ(jobs_before(now), 1u);
  roll(now);
  purge(now);
  EXPECT_EQ(jobs_before(now), 0u);
  const std::vector<UsageEntry> entries =
      report(start + kDay - minutes(120), period_begin(UsagePeriod::kHour, start + kDay * 2), now).entries;
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].key.account, "other");
}

TEST_P(PurgingTest, WithoutRollUpsAgeAloneCounts) {
  settings.rolls_up = false;
  settings.purge.jobs = PurgeAge{1, PurgeUnit::kDay};
  store({job(1, start, start + minutes(90)), job(2, start + kDay * 5, kTimeUnset)});
  const Time now = start + kDay * 5 + minutes(200);
  EXPECT_GT(purge(now), now + minutes(1) - Duration(1));
  EXPECT_EQ(jobs_before(now), 0u);
  settings.rolls_up = true;  // roll-ups begin where records are whole
  roll(now);
  EXPECT_EQ(storage->usage_state("c")->first, period_begin(UsagePeriod::kHour, start + kDay * 5));
}

TEST_P(PurgingTest, UsageThatWasPurgedIsNotMadeAgain) {
  settings.purge.usage = PurgeAge{1, PurgeUnit::kMonth};
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 40; ++id) jobs.push_back(random_job(id));
  store(jobs);
  const Time now = start + kDay * 55;
  roll(now);
  const Time whole = purge_before(*settings.purge.usage, now);
  const Usage after = report(whole, period_begin(UsagePeriod::kHour, now), now);
  ASSERT_FALSE(after.entries.empty());
  purge(now);
  EXPECT_TRUE(report(start, whole, now).entries.empty());
  EXPECT_EQ(report(start, period_begin(UsagePeriod::kHour, now), now), after);
  store({job(41, start, start + kDay)});
  roll(now);
  EXPECT_EQ(report(start, period_begin(UsagePeriod::kHour, now), now), after);
}

TEST_P(PurgingTest, NothingIsPurgedWithoutAnAge) {
  store({job(1, start, start + minutes(90))});
  const Time now = start + kDay * 1000;
  EXPECT_EQ(purge(now), period_after(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now)));
  EXPECT_EQ(jobs_before(now), 1u);
}

// What is archived is in files before it goes, and comes back as it was: once, however often it is loaded.
TEST_P(PurgingTest, WhatWasArchivedComesBackOnce) {
  settings.purge.jobs = settings.purge.steps = settings.purge.events = settings.purge.usage = PurgeAge{1, PurgeUnit::kDay};
  settings.archive.jobs = settings.archive.events = settings.archive.usage = true;
  EventRecord down;
  down.node = "n1";
  down.state = NodeState::kDown;
  down.position = ++position;
  down.started = start;
  down.ended = start + kDay;
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 25; ++id) jobs.push_back(job(id, start, start + minutes(60 + id)));
  rpc::StoreRecords records{"c", 0, jobs, {}, {down}, {}};
  for (const JobRecord& one : jobs) {
    StepRecord& step = records.steps.emplace_back();
    step.job = one.key;
    step.id = StepId(0);
    step.position = 1;
    step.started = one.started;
    step.ended = one.ended;
    step.name = "train";
  }
  ASSERT_TRUE(storage->store(records));
  const Time now = start + kDay * 40;
  roll(now);
  const std::vector<Usage> before = reports(now);

  purge(now);
  ASSERT_TRUE(failed) << failed.error().message();
  EXPECT_EQ(jobs_before(now), 0u);
  size_t jobs_gone = 0;
  for (const rpc::PurgedRecords& gone : purged) {
    if (gone.kind == RecordKind::kJobs) {
      jobs_gone += gone.records;
      EXPECT_EQ(gone.files.size(), 5u) << "10 rows a file: 25 jobs and their steps";
    }
  }
  EXPECT_EQ(jobs_gone, 25u);
  for (const std::string& file : files()) {
    struct stat state {};
    ASSERT_EQ(::stat((settings.archive.directory + "/" + file).c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 0777, 0600u) << file;
    EXPECT_TRUE(file.starts_with("c_job_archive_2026-09-") || file.starts_with("c_event_archive_") || file.starts_with("c_usage_archive_"))
        << file;
  }
  EXPECT_TRUE(report(start, start + kDay * 2, now).entries.empty());

  const sql::Restored first = load();
  EXPECT_EQ(first.known, 0u);
  EXPECT_GE(first.added, 25u + 25u + 1u + 1u);
  EXPECT_EQ(jobs_before(now), 25u);
  EXPECT_EQ(reports(now), before);
  rpc::JobRecords back;
  rpc::JobRecordFilter all;
  all.duplicates = true;
  auto numbers = storage->find_jobs(all, RecordAudience::everybody());
  ASSERT_TRUE(numbers);
  size_t taken = 0;
  int64_t next_step = 0;
  ASSERT_TRUE(storage->load_jobs(*numbers, true, back, taken, &next_step));
  ASSERT_EQ(back.jobs.size(), 25u);
  EXPECT_EQ(back.jobs[3].tres_allocated, jobs[3].tres_allocated);
  ASSERT_EQ(back.steps.size(), 25u);
  EXPECT_EQ(back.steps[3].name, "train");

  const sql::Restored again = load();
  EXPECT_EQ(again.added, 0u);
  EXPECT_EQ(again.known, first.added);
  roll(now);
  EXPECT_EQ(reports(now), before);
}

TEST_P(PurgingTest, StepsOfPurgedJobsAreKeptWhereOnlyStepsAreArchived) {
  settings.purge.jobs = PurgeAge{1, PurgeUnit::kDay};
  settings.rolls_up = false;
  settings.archive.steps = true;
  rpc::StoreRecords records{"c", 0, {job(1, start, start + minutes(9))}, {}, {}, {}};
  StepRecord& step = records.steps.emplace_back();
  step.job = records.jobs[0].key;
  step.position = 1;
  step.started = step.ended = start + minutes(5);
  ASSERT_TRUE(storage->store(records));
  purge(start + kDay * 5);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_TRUE(files()[0].starts_with("c_step_archive_")) << files()[0];
  EXPECT_EQ(load().added, 1u);
  EXPECT_EQ(jobs_before(kTimeInfinite), 0u);
}

// Nothing goes that is not safe: a directory that is gone, a disk that takes nothing.
TEST_P(PurgingTest, WhatCannotBeArchivedIsNotPurged) {
  settings.purge.jobs = settings.purge.transactions = PurgeAge{1, PurgeUnit::kDay};
  settings.rolls_up = false;
  settings.archive.jobs = true;
  store({job(1, start, start + minutes(9))});
  const Time now = start + kDay * 5;
  const std::string whole = settings.archive.directory;
  for (const char* wrong : {"/none", "/file", "/open"}) {
    settings.archive.directory = directory_.path + wrong;
    std::ofstream(directory_.path + "/file") << "no directory";
    ::mkdir((directory_.path + "/open").c_str(), 0777);
    ::chmod((directory_.path + "/open").c_str(), 0777);
    purge(now);
    EXPECT_FALSE(failed) << wrong;
    EXPECT_EQ(jobs_before(now), 1u) << wrong;
  }
  settings.archive.directory = whole;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  if (std::string(GetParam()) == "mariadb") {  // SQLite writes its own files in this process
    const rlimit least{20, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &least), 0);
    purge(now);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(failed);
    EXPECT_EQ(jobs_before(now), 1u);
    EXPECT_TRUE(files().empty()) << files()[0];
  }
  ::signal(SIGXFSZ, ignored);
  purge(now);
  EXPECT_TRUE(failed);
  EXPECT_EQ(jobs_before(now), 0u);
  EXPECT_EQ(files().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Both, PurgingTest, testing::Values("sqlite", "mariadb"), [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace muster::slurmdbd
