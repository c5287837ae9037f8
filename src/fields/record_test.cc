// sacct's columns against what Debian's sacct 22.05 printed for the same records.
#include <gtest/gtest.h>

#include <set>

#include "base/documented_test.h"
#include "fields/record_values.h"
#include "fields/record_view.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

constexpr int64_t kThen = kNow - 7200;

JobRecord job(uint32_t id, JobState state = JobState::kCompleted) {
  JobRecord j;
  j.key = {JobId{id}, from_unix(kThen), 0};
  j.cluster = "orc";
  j.state = state;
  j.eligible = from_unix(kThen);
  j.user = j.group = "root";
  j.name = "job";
  j.partition = "main";
  j.account = "team-a";
  j.qos = "normal";
  j.requested_cpus = 2;
  j.requested_nodes = 1;
  j.requested_mem = "4G";
  j.time_limit_min = 60;
  j.tres_requested = TresAmounts::from_text("cpu=2,mem=4G,node=1,billing=2,gres/gpu=2");
  return j;
}

JobRecord started(uint32_t id, JobState state = JobState::kCompleted, int64_t end = kThen + 100) {
  JobRecord j = job(id, state);
  j.started = from_unix(kThen + 10);
  if (end) j.ended = from_unix(end);
  j.cpus = 2;
  j.nodes = 1;
  j.node_list = "n1";
  j.tres_allocated = TresAmounts::from_text("cpu=2,mem=4G,node=1,billing=2,gres/gpu=2,gres/gpu:h100=2");
  j.gres_allocated = "gpu:h100:2";
  return j;
}

StepRecord step(const JobRecord& j, StepId id, std::string name, JobState state = JobState::kCompleted) {
  StepRecord s;
  s.job = j.key;
  s.id = id;
  s.name = std::move(name);
  s.state = state;
  s.started = from_unix(kThen + 11);
  s.ended = from_unix(kThen + 50);
  s.nodes = s.tasks = 1;
  s.cpus = 2;
  s.node_list = "n1";
  return s;
}

struct RecordTest : testing::Test {
  Environment env = test_environment();
  RecordStyle style;
  TableStyle form;

  std::string line(std::string_view columns, const JobRecord& j, const StepRecord* s = nullptr) {
    Table<RecordView> table(form);
    auto added = table.add(record_fields(), columns);
    if (!added) return "unknown: " + std::string(added.error().message()) + "; " + added.error().hint;
    std::string out;
    table.row({j, s, env, style}, out);
    return out;
  }
  std::string head(std::string_view columns) {
    Table<RecordView> table(form);
    EXPECT_TRUE(table.add(record_fields(), columns));
    std::string out;
    table.header(out);
    return out;
  }
};

TEST_F(RecordTest, TheNumberOfItsQosWhereTheDatabaseWasAsked) {
  const JobRecord done = started(1);
  EXPECT_EQ(line("qos,qosraw%4", done), "    normal      \n");
  style.qos_numbers["normal"] = 1;
  EXPECT_EQ(line("qos,qosraw%4", done), "    normal    1 \n");
}

TEST_F(RecordTest, AKeyThatNobodyNamedHasAnAsterisk) {
  JobRecord done = started(1);
  done.wckey = "grant";
  EXPECT_EQ(line("wckey%6", done), " grant \n");
  done.wckey_is_default = true;
  EXPECT_EQ(line("wckey%6", done), "*grant \n");
}

TEST_F(RecordTest, TheDefaultColumns) {
  EXPECT_EQ(head(kRecordDefault), "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
                                  "------------ ---------- ---------- ---------- ---------- ---------- -------- \n");
  JobRecord done = started(1);
  EXPECT_EQ(line(kRecordDefault, done), "1                   job       main     team-a          2  COMPLETED      0:0 \n");
  StepRecord batch = step(done, kBatchStep, "batch");
  EXPECT_EQ(line(kRecordDefault, done, &batch), "1.batch           batch                team-a          2  COMPLETED      0:0 \n");
  StepRecord failed = step(done, StepId{1}, "named", JobState::kFailed);
  failed.exit_status = 256;
  EXPECT_EQ(line(kRecordDefault, done, &failed), "1.1               named                team-a          2     FAILED      1:0 \n");
  JobRecord killed = started(2, JobState::kCancelled);
  killed.exit_status = 15;
  EXPECT_EQ(line(kRecordDefault, killed), "2                   job       main     team-a          2 CANCELLED+     0:15 \n");
  JobRecord named = started(3, JobState::kRunning, 0);
  named.name = "a very long job name here";
  named.partition = "averylongpartition";
  EXPECT_EQ(line(kRecordDefault, named), "3            a very lo+ averylong+     team-a          2    RUNNING      0:0 \n");
  EXPECT_EQ(line(kRecordDefault, started(8, JobState::kOutOfMemory)),
            "8                   job       main     team-a          2 OUT_OF_ME+      0:0 \n");
}

TEST_F(RecordTest, ArraysAndTheirPendingTasks) {
  JobRecord task = started(6, JobState::kTimeout);
  task.array_job_id = JobId{5};
  task.array_task = 3;
  EXPECT_EQ(line("jobid,jobidraw", task), "5_3          6            \n");
  StepRecord extern_step = step(task, kExternStep, "extern");
  EXPECT_EQ(line("jobid,jobidraw", task, &extern_step), "5_3.extern   6.extern     \n");
  JobRecord rest = job(5, JobState::kPending);
  rest.array_job_id = JobId{5};
  rest.array_tasks = "0-20";
  EXPECT_EQ(line("jobid%-14,jobidraw", rest), "5_[0-20]       5            \n");
  rest.array_tasks = "0-20%4";
  EXPECT_EQ(line("jobid%-14", rest), "5_[0-20%4]     \n");
}

TEST_F(RecordTest, TimesOfEveryKindOfJob) {
  form.form = TableStyle::Form::kSeparated;
  const char* columns = "start,end,elapsed,elapsedraw,cputime,cputimeraw,planned,plannedcpu,resvcpuraw,suspended";
  EXPECT_EQ(line(columns, started(1)), "2026-11-21T07:20:25|2026-11-21T07:21:55|00:01:30|90|00:03:00|180|00:00:10|00:00:20|20|00:00:00\n");
  EXPECT_EQ(line(columns, started(3, JobState::kRunning, 0)),
            "2026-11-21T07:20:25|Unknown|01:59:50|7190|03:59:40|14380|00:00:10|00:00:20|20|00:00:00\n");
  JobRecord waits = job(4, JobState::kPending);
  EXPECT_EQ(line(columns, waits), "Unknown|Unknown|00:00:00|0|00:00:00|0|02:00:00|04:00:00|14400|00:00:00\n");
  JobRecord gone = job(7, JobState::kCancelled);
  gone.ended = from_unix(kThen + 20);
  gone.cancelled_by = Uid{1000};
  EXPECT_EQ(line(columns, gone), "Unknown|2026-11-21T07:20:35|00:00:00|0|00:00:00|0|00:00:20|00:00:40|40|00:00:00\n");
  EXPECT_EQ(line("state", gone), "CANCELLED by 1000\n");
  JobRecord halted = started(9, JobState::kSuspended, 0);
  halted.suspended = from_unix(kThen + 100);
  EXPECT_EQ(line(columns, halted), "2026-11-21T07:20:25|Unknown|00:01:30|90|00:03:00|180|00:00:10|00:00:20|20|01:58:20\n");
  JobRecord old = started(6, JobState::kTimeout, kThen + 90010);
  EXPECT_EQ(line("elapsed,cputime", old), "1-01:00:00|2-02:00:00\n");
}

// A step of a job that was suspended was suspended too.
TEST_F(RecordTest, ASuspendedStepDidNotRun) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(1);
  j.suspended_total = seconds(20);
  StepRecord s = step(j, StepId{0}, "true");
  EXPECT_EQ(line("elapsed,cputime,suspended", j, &s), "00:00:39|00:01:18|00:00:00\n") << "it began later";
  s.suspended_total = seconds(9);
  EXPECT_EQ(line("elapsed,cputime,suspended", j, &s), "00:00:30|00:01:00|00:00:09\n");
  s.state = JobState::kRunning;
  s.ended = kTimeUnset;
  j = started(1, JobState::kSuspended, 0);
  s.suspended = j.suspended = from_unix(kThen + 50);
  EXPECT_EQ(line("elapsed,suspended", j, &s), "00:00:30|01:59:19\n");
}

// A job that gave up nodes: the part that ended, and what goes on.
TEST_F(RecordTest, PartsOfAResizedRun) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord first = started(9, JobState::kRunning, kThen + 100), last = started(9, JobState::kRunning, 0);
  first.flags = kJobResizing;
  last.first_submitted = first.key.submitted;
  last.key.submitted = last.started = first.ended;
  EXPECT_EQ(line("state,end,elapsed", first), "RESIZING|2026-11-21T07:21:55|00:01:30\n");
  EXPECT_EQ(line("state,start,end", last), "RUNNING|2026-11-21T07:21:55|Unknown\n");
  EXPECT_EQ(line("originalsluid", first), line("sluid", first));
  EXPECT_EQ(line("originalsluid", last), line("sluid", first));
  EXPECT_NE(line("sluid", last), line("sluid", first));
  StepRecord s = step(first, StepId{0}, "true", JobState::kRunning);
  s.ended = kTimeUnset;
  EXPECT_EQ(line("state,end", first, &s), "RUNNING|Unknown\n") << "it goes on although its part has ended";
}

// What is printed of start and end is what the elapsed time is made from.
TEST_F(RecordTest, WholeSecondsAreCounted) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(1);
  j.started = from_unix(kThen + 10) + milliseconds(900);
  j.ended = from_unix(kThen + 12) + milliseconds(100);
  EXPECT_EQ(line("start,end,elapsedraw", j), "2026-11-21T07:20:25|2026-11-21T07:20:27|2\n");
}

TEST_F(RecordTest, TruncatedTimesStayWithinTheWindow) {
  form.form = TableStyle::Form::kSeparated;
  style = {0, true, from_unix(kThen + 60), from_unix(kThen + 600)};
  const char* columns = "start,end,elapsedraw";
  EXPECT_EQ(line(columns, started(1)), "2026-11-21T07:21:15|2026-11-21T07:21:55|40\n");
  EXPECT_EQ(line(columns, started(3, JobState::kRunning, 0)), "2026-11-21T07:21:15|2026-11-21T07:30:15|540\n");
  EXPECT_EQ(line(columns, job(4, JobState::kPending)), "2026-11-21T07:30:15|2026-11-21T07:30:15|0\n");
}

TEST_F(RecordTest, ResourcesAreSortedAndConverted) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(8);
  EXPECT_EQ(line("alloctres,reqtres", j),
            "billing=2,cpu=2,gres/gpu:h100=2,gres/gpu=2,mem=4G,node=1|billing=2,cpu=2,gres/gpu=2,mem=4G,node=1\n");
  EXPECT_EQ(line("allocgres,reqgres", j), "gpu:h100:2|gpu:2\n");
  j.tres_requested = TresAmounts::from_text("cpu=1500,mem=2500000M,gres/gpu=2,gres/gpu:h100=2");
  j.requested_mem = "2500000M";
  EXPECT_EQ(line("reqtres,reqmem,reqgres", j), "cpu=1500,gres/gpu:h100=2,gres/gpu=2,mem=2500000M|2500000M|gpu:h100:2\n");
  style.units = 'G';
  EXPECT_EQ(line("reqmem", j), "2441.41G\n");
  j.requested_mem = "4G";
  EXPECT_EQ(line("reqmem", j), "4G\n");
  style.units = 0;
  env.noconvert = true;
  EXPECT_EQ(line("reqmem", j), "4096M\n");
}

TEST_F(RecordTest, ChargebackReadsTypeAndCountFromTheSecondColumn) {
  JobRecord j = started(1);
  j.gres_allocated = "gpu:h100:1024";  // a count that is cut would be charged wrongly
  EXPECT_EQ(line("User,AllocGRES,ElapsedRaw", j), "     root gpu:h100:1024         90 \n");
}

TEST_F(RecordTest, WhatOnlyJobsHaveIsEmptyForSteps) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(1);
  StepRecord s = step(j, StepId{0}, "true");
  s.tasks = 2;
  EXPECT_EQ(line("timelimit,timelimitraw,derivedexitcode,ntasks,user,uid,group,qos,reason,reqmem", j),
            "01:00:00|60|0:0||root|0|root|normal|None|4G\n");
  EXPECT_EQ(line("timelimit,timelimitraw,derivedexitcode,ntasks,user,uid,group,qos,reason,reqmem", j, &s), "|||2||||||\n");
  EXPECT_EQ(line("submit,eligible,layout,totalcpu,avecpufreq,consumedenergy,reqcpufreqmax", j, &s),
            "2026-11-21T07:20:26|2026-11-21T07:20:26|Unknown|00:00:00|0|0|Unknown\n");
  s.cpu_freq = "800000-1200000:ondemand";
  EXPECT_EQ(line("reqcpufreqmin,reqcpufreqmax,reqcpufreqgov", j, &s), "800000|1200000|ondemand\n");
  j.time_limit_min = kUnlimited32;
  EXPECT_EQ(line("timelimit,timelimitraw", j), "UNLIMITED|UNLIMITED\n");
}

TEST_F(RecordTest, CancelledStepsOfACancelledJob) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(2, JobState::kCancelled);
  StepRecord batch = step(j, kBatchStep, "batch", JobState::kCancelled);
  EXPECT_EQ(line("state", j) + line("state", j, &batch), "CANCELLED by 0\nCANCELLED\n");
  j.flags = kJobRequeued;
  EXPECT_EQ(line("state", j), "REQUEUED\n");
  j.state = JobState::kPreempted;
  EXPECT_EQ(line("state", j), "PREEMPTED\n");
}

TEST_F(RecordTest, FileNamePatterns) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(7);
  j.std_out = "/out/%x-%j.%N";
  EXPECT_EQ(line("stdout", j), "/out/%x-%j.%N\n");
  env.expand_patterns = true;
  EXPECT_EQ(line("stdout", j), "/out/job-7.n1\n");
  StepRecord s = step(j, StepId{2}, "true");
  s.std_err = "/e/%J.%s";
  EXPECT_EQ(line("stderr", j, &s), "/e/7.2\n");
}

TEST_F(RecordTest, FilesOfBatchJobsHaveTheirDefaults) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(7);
  j.has_script = true;
  j.work_dir = "/home/a";
  EXPECT_EQ(line("stdin,stdout,stderr", j), "/dev/null|/home/a/slurm-%j.out|/home/a/slurm-%j.out\n");
  j.std_err = "e.%j";
  env.expand_patterns = true;
  EXPECT_EQ(line("stdout,stderr", j), "/home/a/slurm-7.out|/home/a/e.7\n");
  j.flags |= kRecordWithoutStdio;
  EXPECT_EQ(line("stdin,stdout,stderr", j), "||\n") << "nobody knows";
}

TEST_F(RecordTest, WidthsSidesAndCuts) {
  JobRecord j = started(1);
  EXPECT_EQ(line("jobid%3,jobname%2,state%-12,user", j), "  1 j+ COMPLETED         root \n");
  EXPECT_EQ(line("jobname%0,state%1,nodelist%-3", j), " + n1  \n");
  EXPECT_EQ(line("start%5,elapsed%4,reqcpus%1", started(1)), "2026- 00:01:30 2 \n");  // only texts are marked
  EXPECT_EQ(head("reservationid,state%3"), "Reservat Sta \n-------- --- \n");
  j.name = "büro";
  EXPECT_EQ(line("jobname%3", j), " b+ \n");  // a character is not cut apart
}

TEST_F(RecordTest, ParsableLines) {
  form = {TableStyle::Form::kEnded, ";;", true};
  EXPECT_EQ(head("jobid,jobname%3"), "JobID;;JobName;;\n");
  JobRecord j = started(3);
  j.name = "a very long job name here";
  EXPECT_EQ(line("jobid,jobname%3", j), "3;;a very long job name here;;\n");
  form.header = false;
  EXPECT_EQ(head("jobid"), "");
}

TEST_F(RecordTest, NamesAreFoundByTheirBeginning) {
  form.form = TableStyle::Form::kSeparated;
  JobRecord j = started(1);
  EXPECT_EQ(head("job,elapsed,user,tresusageinmaxn,RESERVED"), "JobID|Elapsed|User|TRESUsageInMaxNode|Planned\n");
  EXPECT_EQ(line("jobid,nope", j), "unknown: nope; ");
  EXPECT_EQ(line("elapsd", j), "unknown: elapsd; did you mean Elapsed?");
  EXPECT_EQ(line("jobid%x", j).substr(0, 16), "unknown: jobid%x");
  EXPECT_EQ(line("jobid%99999", j).substr(0, 7), "unknown");
}

TEST(Records, TheColumnsAreThoseOfTheManualPageInItsOrder) {
  const auto names = documented_names("sacct.columns", "man/sacct.1.txt", [](const std::string& page) {
    const size_t begin = page.find("Fields available:"), end = page.find("NOTE:", begin);
    std::istringstream words(page.substr(begin + 17, end - begin - 17));
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  });
  EXPECT_GT(names.size(), 115u);
  std::string expected = column_help(std::vector<std::string_view>(names.begin(), names.end()));
  EXPECT_EQ(record_help(), expected);
  for (std::string_view name : split(kRecordLong, ',')) EXPECT_TRUE(find_column(record_fields(), name)) << name;
}

TEST(Records, EveryColumnHasAWordAndANameOfItsOwn) {
  std::set<std::string> names;
  for (const RecordField& f : record_fields()) {
    EXPECT_TRUE(names.insert(to_lower(f.name)).second) << f.name;
    EXPECT_FALSE(f.doc.empty()) << f.name;
    EXPECT_NE(f.width, 0) << f.name;
  }
}

}  // namespace
}  // namespace muster::fields
