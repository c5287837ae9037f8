// Roll-ups in a database: whatever order records come in, and whatever changes later, every report is what a recount of the records gives.
#include "slurmdbd/daemon/usage_rolling.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <memory>

#include "base/random.h"
#include "model/tres_sums.h"
#include "slurmdbd/daemon/report_answers.h"
#include "sql/testing.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

sql::PrivateMariaDb* server() {
  static std::unique_ptr<sql::PrivateMariaDb> one = [] {
    auto s = std::make_unique<sql::PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

constexpr int64_t kSeconds = 70 * 24 * 3600;

class Rolling : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("TZ", "Europe/Zurich", 1);  // the time has a day of 25 hours in it, and two ends of months
    tzset();
    if (std::string(GetParam()) == "mariadb") {
      if (!sql::PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      open(sql::open_mariadb(server()->options("muster_roll_" + std::to_string(++databases))));
    } else {
      open(sql::open_sqlite(directory_.path + "/a.db"));
    }
    d.clusters["c"].name = "c";
  }
  void open(Result<std::unique_ptr<sql::Connection>> c) {
    ASSERT_TRUE(c);
    auto s = sql::Storage::open(std::move(*c));
    ASSERT_TRUE(s);
    storage = std::move(*s);
  }
  Time random_time() { return start + seconds(static_cast<int64_t>(random.uniform(0, kSeconds))); }
  JobRecord random_job(uint32_t id) {
    JobRecord j;
    j.key = {JobId(id), random_time(), 0};
    j.position = ++position;
    j.account = "a" + std::to_string(random.uniform(0, 3));
    j.user = "u" + std::to_string(random.uniform(0, 5));
    j.partition = random.uniform(0, 1) ? "p" : "q";
    j.eligible = j.key.submitted;
    j.tres_allocated = j.tres_requested = TresAmounts{.cpus = random.uniform(1, 64), .mem_mb = random.uniform(1, 64'000)};
    change(j);
    return j;
  }
  void change(JobRecord& j) {
    j.position = ++position;
    j.started = j.key.submitted + seconds(static_cast<int64_t>(random.uniform(0, 20'000)));
    j.state = random.uniform(0, 3) ? JobState::kCompleted : random.uniform(0, 1) ? JobState::kFailed : JobState::kRunning;
    j.ended = j.state == JobState::kRunning ? kTimeUnset : j.started + seconds(static_cast<int64_t>(random.uniform(0, 400'000)));
    if (!random.uniform(0, 5)) j.account = "other";
  }
  void store(std::vector<JobRecord> jobs, std::vector<EventRecord> events = {}) {
    rpc::StoreRecords m;
    m.cluster = "c";
    m.jobs = std::move(jobs);
    m.events = std::move(events);
    auto ok = storage->store(m);
    ASSERT_TRUE(ok) << ok.error().message();
  }
  void roll(Time now) {
    for (int i = 0; i < 1000; ++i) {
      auto more = roll_some(*storage, d, "c", now);
      ASSERT_TRUE(more) << more.error().message();
      if (!*more) return;
    }
    FAIL() << "there is always more to roll";
  }
  Usage rolled(Time from, Time until, Time now) {
    rpc::QueryUsage q;
    q.parts = kUsageAccount | kUsageUser | kUsageQos | kUsageWckey | kUsagePartition | kUsageWasted;
    auto got = usage_within(*storage, d, "c", from, until, now, UsageSelection(q, {}, RecordAudience::everybody()));
    EXPECT_TRUE(got) << (got ? "" : got.error().message());
    return got ? *got : Usage();
  }
  Usage counted(Time from, Time until) {
    std::vector<Time> edges = {from};
    while (edges.back() < until) edges.push_back(std::min(until, period_after(UsagePeriod::kHour, edges.back())));
    UsageSum sum;
    auto hours = usage_of_hours(*storage, d, "c", edges);
    EXPECT_TRUE(hours);
    for (const Usage& u : *hours) sum.add(u);
    return sum.take();
  }
  void expect_recount(Time now) {
    for (int i = 0; i < 8; ++i) {
      Time from = period_begin(UsagePeriod::kHour, random_time()), until = period_begin(UsagePeriod::kHour, random_time());
      if (i == 0) from = period_begin(UsagePeriod::kHour, start), until = now;
      if (i == 1) from = period_begin(UsagePeriod::kMonth, start + minutes(60 * 24 * 32)), until = period_after(UsagePeriod::kMonth, from);
      if (until < from) std::swap(from, until);
      until = std::min(until, now);
      if (until <= from) continue;
      const Usage got = rolled(from, until, now), want = counted(from, until);
      ASSERT_EQ(got.entries.size(), want.entries.size()) << format_time(from) << " " << format_time(until);
      ASSERT_EQ(got, want) << format_time(from) << " " << format_time(until);
    }
  }

  sql::TemporaryDirectory directory_;
  std::unique_ptr<sql::Storage> storage;
  Directory d;
  Random random{11};
  uint64_t position = 0;
  const Time start = from_unix(1'790'000'000);  // 2026-09-21
};

TEST_P(Rolling, EqualsARecountWhateverComesWhen) {
  EventRecord made;
  made.started = start - minutes(600);
  made.tres = TresAmounts::from_text("cpu=1000,mem=1000000M");
  store({}, {made});
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 300; ++id) jobs.push_back(random_job(id));
  store({jobs.begin(), jobs.begin() + 100});
  Time now = start + minutes(60 * 24 * 20) + seconds(1234);
  roll(now);
  expect_recount(now);
  for (int round = 0; round < 6; ++round) {
    std::vector<JobRecord> some;
    for (int i = 0; i < 20; ++i) {  // new ones, late ones, and ones that changed
      JobRecord& j = jobs[random.uniform(0, jobs.size() - 1)];
      if (random.uniform(0, 1)) change(j);
      some.push_back(j);
    }
    EventRecord down;
    down.node = "n" + std::to_string(random.uniform(0, 3));
    down.state = NodeState::kDown;
    down.position = ++position;
    down.started = random_time();
    down.ended = down.started + seconds(static_cast<int64_t>(random.uniform(0, 100'000)));
    down.tres = TresAmounts::from_text("cpu=50,mem=1000M");
    store(some, {down});
    now += minutes(60 * 24 * 8) + seconds(77);
    roll(now);
    expect_recount(now);
  }
}

TEST_P(Rolling, TwiceIsTheSame) {
  for (uint32_t id = 1; id <= 50; ++id) store({random_job(id)});
  const Time now = start + minutes(60 * 24 * 40);
  roll(now);
  const Usage once = rolled(start - minutes(60 * 24 * 30), now, now);
  EXPECT_FALSE(once.entries.empty());
  sql::UsageBatch again;
  again.state = *storage->usage_state("c");
  again.still_changed = {{again.state.first, again.state.rolled}};
  ASSERT_TRUE(storage->put_usage("c", again));
  roll(now);
  EXPECT_EQ(rolled(start - minutes(60 * 24 * 30), now, now), once);
  EXPECT_TRUE(storage->changed_times("c")->empty());
}

TEST_P(Rolling, TheHourThatLastsCountsAsFarAsItHasCome) {
  JobRecord j = random_job(1);
  j.key.submitted = j.eligible = j.started = period_begin(UsagePeriod::kHour, start);
  j.state = JobState::kRunning;
  j.ended = kTimeUnset;
  j.tres_allocated = TresAmounts{.cpus = 2};
  store({j});
  const Time now = j.started + minutes(90);
  roll(now);
  const Usage got = rolled(j.started, j.started + minutes(600), now);
  ASSERT_EQ(got.entries.size(), 1u);
  EXPECT_EQ(got.entries[0].used.cpus, 2u * 90 * 60);
  EXPECT_EQ(storage->usage_state("c")->rolled, j.started + minutes(60));
}

TEST_P(Rolling, SizesAreThoseOfTheRecordsByAccountAndAmount) {
  auto run = [&](uint32_t id, const char* account, const char* amounts, int64_t minutes_of_run) {
    JobRecord j;
    j.key = {JobId(id), start, 0};
    j.position = ++position;
    j.account = account;
    j.state = JobState::kCompleted;
    j.eligible = j.started = start;
    j.ended = start + minutes(minutes_of_run);
    j.tres_allocated = TresAmounts::from_text(amounts);
    return j;
  };
  // Of account ab the runs are not those of account a, and what ran for no time is no run.
  store({run(1, "a", "cpu=2", 10), run(2, "a", "cpu=2", 20), run(3, "a", "cpu=4", 10), run(4, "ab", "cpu=2", 10), run(5, "", "cpu=2", 0),
         run(6, "a", "cpu=2", 120)});
  rpc::QueryJobSizes q;
  q.filter.from = start;
  q.filter.until = start + minutes(60);
  auto answer = answer_sizes({*storage, d, start + minutes(600), [] { return true; }}, q, RecordAudience::everybody());
  ASSERT_TRUE(answer);
  std::vector<std::string> rows;
  for (std::string bytes; (*answer)->next(bytes);) {
    rpc::JobSizes part;
    ASSERT_TRUE(wire::decode(bytes, part));
    for (const rpc::JobSize& s : part.sizes)
      rows.push_back(s.cluster + "/" + s.account + "/" + tres_text(s.each) + ": " + std::to_string(s.jobs) + ", " +
                     std::to_string(s.seconds));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"c/a/cpu=2: 3, 5400", "c/a/cpu=4: 1, 600", "c/ab/cpu=2: 1, 600"}));
}

// What a job had before it gave up nodes is counted by what it had then; as a job it is counted once, by what it had last.
TEST_P(Rolling, AResizedJobIsOneJobAndAllOfItsUse) {
  JobRecord first, last;
  first.key = {JobId(1), start, 0};
  first.position = ++position;
  first.account = "a";
  first.state = JobState::kRunning;
  first.flags = kJobResizing;
  first.eligible = first.started = start;
  first.ended = start + minutes(10);
  first.tres_allocated = TresAmounts::from_text("cpu=4");
  last = first;
  last.key.submitted = last.eligible = last.started = first.ended;
  last.position = ++position;
  last.first_submitted = start;
  last.state = JobState::kCompleted;
  last.flags = 0;
  last.ended = start + minutes(30);
  last.tres_allocated = TresAmounts::from_text("cpu=2");
  store({first, last});
  const auto rows = [&](Time until) {
    rpc::QueryJobSizes q;
    q.filter.from = start;
    q.filter.until = until;
    auto answer = answer_sizes({*storage, d, start + minutes(600), [] { return true; }}, q, RecordAudience::everybody());
    EXPECT_TRUE(answer);
    std::vector<std::string> out;
    for (std::string bytes; answer && (*answer)->next(bytes);) {
      rpc::JobSizes part;
      EXPECT_TRUE(wire::decode(bytes, part));
      for (const rpc::JobSize& s : part.sizes)
        out.push_back(tres_text(s.each) + ": " + std::to_string(s.jobs) + ", " + std::to_string(s.seconds));
    }
    return out;
  };
  EXPECT_EQ(rows(start + minutes(60)), (std::vector<std::string>{"cpu=2: 1, 1200", "cpu=4: 0, 600"}));
  EXPECT_EQ(rows(start + minutes(5)), (std::vector<std::string>{"cpu=4: 1, 300"})) << "what follows is not in this time";

  const Time hour = period_begin(UsagePeriod::kHour, start);
  const Usage got = counted(hour, hour + minutes(120));
  uint64_t cpus = 0;
  for (const UsageEntry& entry : got.entries) cpus += entry.used.cpus.value_or(0);
  EXPECT_EQ(cpus, 4u * 600 + 2u * 1200);
}

TEST_P(Rolling, AnyWindowAndAnyNameAreHarmless) {
  for (uint32_t id = 1; id <= 20; ++id) store({random_job(id)});
  const Time now = start + minutes(60 * 24 * 10);
  roll(now);
  const ReportContext c{*storage, d, now, [] { return true; }};
  rpc::QueryUsage q;
  q.parts = kUsageUser;
  q.from = Time::min();
  q.until = Time::max();
  EXPECT_TRUE(answer_usage(c, q, {}));
  q.clusters = {"c"};
  q.accounts = {"' OR 1=1 --", std::string(100'000, 'x')};
  auto none = answer_usage(c, q, {});
  ASSERT_TRUE(none);
  std::string part;
  ASSERT_TRUE((*none)->next(part));
  rpc::UsageAnswer answer;
  ASSERT_TRUE(wire::decode(part, answer));
  EXPECT_TRUE(answer.usage.entries.empty());
  q.clusters = {"nosuch"};
  EXPECT_FALSE((*answer_usage(c, q, {}))->next(part));
  rpc::QueryEvents e;
  e.nodes = {"n[1-999999999]"};
  EXPECT_FALSE(answer_events(c, e));
  rpc::QueryReservationUsage r;
  r.nodes = {"["};
  EXPECT_FALSE(answer_reservations(c, r));
}

INSTANTIATE_TEST_SUITE_P(Both, Rolling, testing::Values("sqlite", "mariadb"), [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace muster::slurmdbd
