// What jobs used of what they held: the question, the sums, what to ask for next time, and its forms.
#include "muster/efficiency_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster::front {
namespace {

using Words = std::vector<std::string>;
constexpr EfficiencyBy kEach[] = {EfficiencyBy::kUser, EfficiencyBy::kAccount, EfficiencyBy::kJob};

// Ran for an hour on 4 CPUs of one node with 8 GiB.
JobRecord a_job(uint32_t id, const char* user, const char* account) {
  JobRecord j;
  j.key.id = JobId(id);
  j.user = user;
  j.account = account;
  j.state = JobState::kCompleted;
  j.started = from_unix(1000);
  j.ended = from_unix(4600);
  j.cpus = 4;
  j.nodes = 1;
  j.tres_allocated = TresAmounts{.cpus = 4, .mem_mb = 8192, .nodes = 1, .billing = 4};
  return j;
}
StepRecord a_step(const JobRecord& j, int64_t cpu_seconds, uint64_t rss_mb) {
  StepRecord s;
  s.job = j.key;
  auto usage = std::make_shared<StepUsage>();
  TaskUsage t;
  t.user_time = seconds(cpu_seconds);
  t.rss = Bytes(rss_mb << 20);
  add_task(*usage, t, "n1");
  s.usage = usage;
  return s;
}

struct EfficiencyReportTest : testing::Test {
  EfficiencyReportTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  std::string asked(const Words& words) {
    const auto a = parse_efficiency(words, from_unix(1'792'936'245));  // 2026-10-25T13:50:45
    if (!a) return std::string(a.error().message());
    return std::to_string(static_cast<int>(a->by)) + " " + format_time(a->from) + " " + format_time(a->until) + " " +
           std::to_string(static_cast<int>(a->form));
  }
  void add(EfficiencySums& sums, const JobRecord& job, const std::vector<StepRecord>& steps) {
    sums.add({job, nullptr, env, style, steps});
  }
  // Alice wastes three CPUs of four, then none; bob half of his memory; of one of his jobs nothing is known; another never ran.
  EfficiencyReport report(EfficiencyBy by, size_t most = kMostJobRows) {
    EfficiencyAsk ask{.by = by, .from = from_unix(1'790'812'800), .until = from_unix(1'793'491'200)};
    EfficiencySums sums(ask, "c", most);
    const JobRecord idle = a_job(7, "alice", "lab, <one>"), busy = a_job(8, "alice", "two"), roomy = a_job(9, "bob", "two");
    JobRecord waited = a_job(10, "bob", "two");
    waited.started = {};
    add(sums, idle, {a_step(idle, 3600, 8192)});
    add(sums, busy, {a_step(busy, 4 * 3600, 8192)});
    add(sums, roomy, {a_step(roomy, 4 * 3600 - 360, 2048)});
    add(sums, a_job(11, "bob", "two"), {});
    add(sums, waited, {});
    return sums.end();
  }
  fields::Environment env;
  fields::RecordStyle style;
};

TEST_F(EfficiencyReportTest, WhatIsAsked) {
  EXPECT_EQ(asked({}), "0 2026-10-01T00:00:00 2026-11-01T00:00:00 0");
  EXPECT_EQ(asked({"--by", "job", "--month=2026-02", "--csv"}), "2 2026-02-01T00:00:00 2026-03-01T00:00:00 1");
  EXPECT_EQ(asked({"--by=account", "--start", "2026-09-30", "--end=2026-10-02T12:00", "--json"}),
            "1 2026-09-30T00:00:00 2026-10-02T12:00:00 2");
  EXPECT_EQ(asked({"--by", "qos"}), "--by qos: user, account or job");
  EXPECT_EQ(asked({"--html"}), "efficiency: unknown option '--html'");
  EXPECT_EQ(asked({"--start", "soon"}), "--start soon: no time");
  EXPECT_EQ(asked({"--end"}), "efficiency: --end needs a value");
  EXPECT_EQ(asked({"--start", "2026-10-02", "--end", "2026-10-02"}),
            "efficiency: nothing lies between 2026-10-02T00:00:00 and 2026-10-02T00:00:00");
}

TEST_F(EfficiencyReportTest, AsksForRunsThatEndedInThePeriod) {
  const rpc::JobRecordFilter f = query_of({.from = from_unix(5), .until = from_unix(9)}, "c").filter;
  EXPECT_EQ(f.clusters, Words{"c"});
  EXPECT_EQ(f.from, from_unix(5));
  EXPECT_EQ(f.until, from_unix(9));
  EXPECT_TRUE(f.duplicates && f.steps);
  EXPECT_FALSE(f.states & (1u << static_cast<unsigned>(JobState::kRunning)));
  EXPECT_TRUE(f.states & (1u << static_cast<unsigned>(JobState::kOutOfMemory)));
}

TEST_F(EfficiencyReportTest, EachJobOnce) {
  for (EfficiencyBy by : kEach) {
    const EfficiencyReport r = report(by);
    EXPECT_EQ(r.total.jobs, 3u);
    EXPECT_DOUBLE_EQ(r.total.cpu.held, 12 * 3600);
    EXPECT_DOUBLE_EQ(r.total.cpu.used, 9 * 3600 - 360);
    EXPECT_DOUBLE_EQ(r.total.memory.percent(), 75);
    EXPECT_EQ(r.unknown, 1u);
    EXPECT_EQ(r.left_out, 0u);
  }
}

TEST_F(EfficiencyReportTest, TheMostUnusedJobsOnly) {
  const EfficiencyReport r = report(EfficiencyBy::kJob, 1);
  ASSERT_EQ(r.rows.size(), 1u);
  EXPECT_EQ(r.rows[0].name, "7");
  EXPECT_EQ(r.rows[0].next, "2 CPUs in all");
  EXPECT_EQ(r.left_out, 2u);
  EXPECT_EQ(r.total.jobs, 3u);
  EXPECT_NE(to_text(r).find("\n2 more jobs left less unused: they are in the total only.\n"), std::string::npos) << to_text(r);
}

TEST_F(EfficiencyReportTest, AsText) {
  EXPECT_EQ(to_text(report(EfficiencyBy::kUser)),
            "Efficiency on cluster c by user, jobs that ended 2026-10-01T00:00:00 - 2026-11-01T00:00:00\n\n"
            "user                    jobs  CPU-hours       used   GB-hours       used  next time ask for\n"
            "alice                      2       8.00      62.5%      16.00     100.0%  75% of the CPUs\n"
            "bob                        1       4.00      97.5%       8.00      25.0%  30% of the memory\n"
            "total                      3      12.00      74.2%      24.00      75.0%\n"
            "\n1 of the jobs are not in here: nothing was gathered of what they used (JobAcctGatherType).\n");
  const std::string jobs = to_text(report(EfficiencyBy::kJob));
  EXPECT_NE(jobs.find("\n9           bob           two                  4.00      97.5%       8.00      25.0%  --mem=2458M\n"),
            std::string::npos)
      << jobs;
}

TEST_F(EfficiencyReportTest, ForPrograms) {
  EXPECT_EQ(to_csv(report(EfficiencyBy::kAccount)),
            "account,jobs,cpu_held_hours,cpu_used_hours,cpu_spare_hours,memory_held_gb_hours,memory_used_gb_hours,memory_spare_gb_hours,"
            "gpu_held_hours,gpu_peak_hours,next_time\n"
            "\"lab, <one>\",1,4.0000,1.0000,2.0000,8.0000,8.0000,0.0000,0.0000,0.0000,50% of the CPUs\n"
            "two,2,8.0000,7.9000,0.0000,16.0000,10.0000,5.5996,0.0000,0.0000,65% of the memory\n");
  std::string json;
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, true, json);
  to_tree(report(EfficiencyBy::kJob), *sink);
  EXPECT_NE(json.find("{\"job\":\"7\",\"user\":\"alice\",\"account\":\"lab, <one>\",\"jobs\":1,\"cpu_held_hours\":4.0"), std::string::npos)
      << json;
  EXPECT_NE(json.find("\"jobs_unknown\":1,\"jobs_left_out\":0}"), std::string::npos) << json;
}

// Of two GPUs one and a half were busy at the peak; another job's were not watched.
TEST_F(EfficiencyReportTest, GpusWhereTheyWereWatched) {
  EfficiencySums sums({.by = EfficiencyBy::kUser}, "c");
  JobRecord watched = a_job(7, "alice", "lab"), unwatched = a_job(8, "alice", "lab");
  for (JobRecord* job : {&watched, &unwatched}) job->tres_allocated.gres.push_back({"gpu", "", 2});
  StepRecord step = a_step(watched, 4 * 3600, 8192);
  auto usage = std::make_shared<StepUsage>(*step.usage);
  usage->gpu_util.parts = 1;
  usage->gpu_util.total = 150;
  step.usage = usage;
  add(sums, watched, {step});
  add(sums, unwatched, {a_step(unwatched, 4 * 3600, 8192)});
  const EfficiencyReport r = sums.end();
  EXPECT_DOUBLE_EQ(r.total.gpu.held, 2 * 3600);
  EXPECT_DOUBLE_EQ(r.total.gpu.percent(), 75);
  const std::string text = to_text(r);
  EXPECT_NE(text.find("GB-hours       used  GPU-hours    at peak"), std::string::npos) << text;
  EXPECT_NE(text.find("100.0%       2.00      75.0%\n"), std::string::npos) << text;
  EXPECT_NE(to_csv(r).find(",2.0000,1.5000,\n"), std::string::npos) << to_csv(r);
}

TEST_F(EfficiencyReportTest, NoJobsAtAll) {
  const EfficiencyReport none = EfficiencySums({}, "c").end();
  EXPECT_NE(to_text(none).find("total                      0       0.00          -       0.00          -\n"), std::string::npos)
      << to_text(none);
}

}  // namespace
}  // namespace muster::front
