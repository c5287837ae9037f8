// Readers of traces: what is read, and what is said of what cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/replay/sacct.h"
#include "sim/replay/swf.h"

namespace muster::sim::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Trace read(std::string_view text, ReadOptions options = {}) {
  auto trace = read_trace(text, options);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return trace ? *trace : Trace();
}
std::string refusal(std::string_view text, ReadOptions options = {}) {
  auto trace = read_trace(text, options);
  EXPECT_FALSE(trace);
  return trace ? "" : std::string(trace.error().message());
}

TEST(Swf, EighteenFieldsAndAHeader) {
  const Trace t = read("; Version: 2.2\n;  UnixStartTime: 1700000000\n; Queue: 3 Fast jobs\n; Partition: 1 gpu\n"
                       "1 0 5 100 8 -1 -1 16 7200 2048 1 4 2 -1 3 1 -1 -1\n"
                       "2 60.4 -1 50 4 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 1 10\n");
  ASSERT_EQ(t.jobs.size(), 2u);
  EXPECT_EQ(t.format, "swf");
  const TraceJob &a = t.jobs[0], &b = t.jobs[1];
  EXPECT_EQ(a.submit, 1700000000);
  EXPECT_EQ(a.start, 1700000005);
  EXPECT_EQ(a.run, 100);
  EXPECT_EQ(a.end, 1700000105);
  EXPECT_EQ(a.cpus, 16u) << "what was asked for goes before what was had";
  EXPECT_EQ(a.limit_min, 120u);
  EXPECT_EQ(a.mem_mb, 32u) << "2048 KB for each of 16 processors";
  EXPECT_EQ(t.users.of(a.user), "user4");
  EXPECT_EQ(t.accounts.of(a.account), "group2");
  EXPECT_EQ(t.qos.of(a.qos), "fast");
  EXPECT_EQ(t.partitions.of(a.partition), "gpu");
  EXPECT_EQ(a.fate, Fate::kCompleted);
  EXPECT_EQ(b.submit, 1700000060);
  EXPECT_EQ(b.cpus, 4u);
  EXPECT_FALSE(b.limit_min);
  EXPECT_EQ(b.user + b.account + b.qos + b.partition, 0u);
  EXPECT_EQ(b.fate, Fate::kFailed);
  EXPECT_EQ(b.after, 1u);
}

TEST(Swf, WhatProcessorsAre) {
  const char* line = "1 0 0 100 8 -1 -1 16 -1 -1 1\n";
  EXPECT_EQ(read(line, {Processors::kGpus, {}}).jobs[0].gpus, 16u);
  EXPECT_EQ(read(line, {Processors::kNodes, {}}).jobs[0].nodes, 16u);
}

TEST(Swf, WrongLinesAreNamedAndLeftOut) {
  const Trace t = read("1 0 0 100 8 -1 -1 16 -1 -1 1\n"
                       "2 1 0 100 8 -1 -1 16\n"
                       "3 1 0 100 eight -1 -1 16 -1 -1 1\n"
                       "4 -1 0 100 8 -1 -1 16 -1 -1 1\n"
                       "5 1 0 1e300 8 -1 -1 16 -1 -1 1\n"
                       "6 1 0 100 8 -1 -1 99999999999 -1 -1 1\n"
                       "7 1 0 nan 8 -1 -1 1 -1 -1 1\n"
                       "8 1 0 100 8 -1 -1 1 -1 -1 1 1 1 1 1 1 1 1 1\n"
                       "\r\n"
                       "9 5 0 100 8 -1 -1 16 -1 -1 1");  // no newline at the end
  EXPECT_EQ(t.jobs.size(), 2u);
  EXPECT_EQ(t.wrong_lines, 7u);
  ASSERT_EQ(t.problems.size(), 7u);
  EXPECT_EQ(t.problems[0].line, 2u);
  EXPECT_EQ(t.problems[0].text, "it has 8 fields of 18");
  EXPECT_EQ(t.problems[1].text, "field 5 is no number: eight");
  EXPECT_THAT(t.problems[2].text, HasSubstr("submit"));
  EXPECT_EQ(t.problems[6].text, "it has more than 18 fields");
}

TEST(Swf, OnlySomeProblemsAreTold) {
  std::string text = "1 0 0 100 8 -1 -1 16 -1 -1 1\n";
  for (int i = 0; i < 50; ++i) text += "x\n";
  const Trace t = read(text);
  EXPECT_EQ(t.wrong_lines, 50u);
  EXPECT_EQ(t.problems.size(), TraceLimits().told);
}

TEST(Swf, CancelledBeforeTheStartAndPartsOfJobs) {
  const Trace t = read("1 0 50 -1 8 -1 -1 16 -1 -1 5\n"   // waited 50 seconds, then cancelled
                       "2 0 50 0 8 -1 -1 16 -1 -1 5\n"    // the same
                       "3 0 50 10 8 -1 -1 16 -1 -1 5\n"   // cancelled while it ran
                       "4 0 -1 -1 8 -1 -1 16 -1 -1 1\n"   // nothing is known
                       "5 0 0 10 8 -1 -1 16 -1 -1 2\n");  // the first part of a job
  ASSERT_EQ(t.jobs.size(), 3u);
  EXPECT_FALSE(t.jobs[0].started());
  EXPECT_EQ(t.jobs[0].end, 50);
  EXPECT_FALSE(t.jobs[1].started());
  EXPECT_TRUE(t.jobs[2].started());
  EXPECT_EQ(t.never_started, 1u);
  EXPECT_EQ(t.parts_of_jobs, 1u);
}

TEST(Swf, JobsAreSortedBySubmission) {
  const Trace t = read("2 9 0 1 1 -1 -1 1 -1 -1 1\n1 3 0 1 1 -1 -1 1 -1 -1 1\n");
  EXPECT_EQ(t.jobs[0].number, 1u);
  EXPECT_EQ(t.jobs[1].number, 2u);
}

constexpr const char* kHeader =
    "JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|State|ExitCode|ReqTRES\n";

TEST(Sacct, AJob) {
  const Trace t = read(std::string(kHeader) +
                       "77_3|80|alice|Physics|gpu,cpu|high|2026-01-31T23:59:59|2026-02-01T00:10:00|2026-02-01T01:00:00|2026-02-01T03:30:00|"
                       "02:30:00|1-00:00:00|FAILED|3:0|billing=8,cpu=16,gres/gpu:h100=8,gres/gpu=8,mem=62.50G,node=2\n"
                       "80.batch|80.batch||Physics|||2026-02-01T01:00:00|2026-02-01T01:00:00|2026-02-01T01:00:00|2026-02-01T03:30:00|02:30:"
                       "00||FAILED|3:0|\n");
  ASSERT_EQ(t.jobs.size(), 1u);
  EXPECT_EQ(t.parts_of_jobs, 1u);
  EXPECT_EQ(t.wrong_lines, 0u);
  const TraceJob& j = t.jobs[0];
  EXPECT_EQ(j.number, 80u);
  EXPECT_EQ(j.submit, 1769903999);
  EXPECT_EQ(j.eligible, 1769904600);
  EXPECT_EQ(j.run, 9000);
  EXPECT_EQ(j.limit_min, 1440u);
  EXPECT_EQ(j.nodes, 2u);
  EXPECT_EQ(j.cpus, 16u);
  EXPECT_EQ(j.gpus, 8u);
  EXPECT_EQ(j.mem_mb, 64000u);
  EXPECT_EQ(t.gpu_types.of(j.gpu_type), "h100");
  EXPECT_EQ(j.fate, Fate::kFailed);
  EXPECT_EQ(j.exit_code, 3);
  EXPECT_EQ(t.users.of(j.user), "alice");
  EXPECT_EQ(t.partitions.of(j.partition), "gpu,cpu");
}

TEST(Sacct, OtherColumnsAndOrders) {
  const Trace t = read("Submit|State|Start|End|NNodes|ReqCPUS|ReqMem|TimelimitRaw|ElapsedRaw|Comment\n"
                       "1769904000|CANCELLED by 1000|1769904010|1769904100|2|8|4Gn|UNLIMITED|90|any|thing\n"  // a | in a text
                       "1769904000|CANCELLED by 1000|None|1769904100|2|8|4Gn|UNLIMITED|0|\n"
                       "1769904000|TIMEOUT|1769904010|1769907610|2|8|2Gc|60|3600|\n"
                       "1769904000|RUNNING|1769904010|Unknown|1|1|?|Partition_Limit|70|\n"
                       "1769904000|PENDING|Unknown|Unknown|1|1|1G|60|0|\n");
  ASSERT_EQ(t.jobs.size(), 3u);
  EXPECT_EQ(t.wrong_lines, 1u);
  EXPECT_EQ(t.problems[0].text, "it has 11 fields, the header 10");
  EXPECT_FALSE(t.jobs[0].started());
  EXPECT_EQ(t.jobs[0].limit_min, kNoLimit);
  EXPECT_EQ(t.jobs[0].mem_mb, 8192u);
  EXPECT_EQ(t.jobs[1].fate, Fate::kTimeout);
  EXPECT_EQ(t.jobs[1].mem_mb, 16384u);
  EXPECT_EQ(t.jobs[2].fate, Fate::kUnfinished);
  EXPECT_FALSE(t.jobs[2].limit_min);
  EXPECT_EQ(t.unfinished, 1u);
  EXPECT_EQ(t.never_started, 1u);
}

TEST(Sacct, WhatCannotBeReadIsSaid) {
  const Trace t = read(std::string(kHeader) + "1|1|a|a|p|q|yesterday||||||||\n"
                                              "x|x|a|a|p|q|2026-01-31T23:59:59||2026-01-31T23:59:59|||||0:0|cpu=1\n"
                                              "3|3|a|a|p|q|2026-01-31T23:59:59||2026-01-31T23:59:59||1:00:00||COMPLETED|0:0|cpu=many\n"
                                              "4|4|a|a|p|q|2026-01-31T23:59:59||2026-01-31T23:59:59||1:00:00||COMPLETED|0:0|\n"
                                              "5|5|a|a|p|q|2026-01-31T23:59:59||2026-01-31T23:59:59||1:00:00|soon|COMPLETED|0:0|cpu=1\n"
                                              "6|6|a|a|p|q|2026-01-31T23:59:59||2026-01-31T23:59:59||1:00:00||COMPLETED|0:0|cpu=1\n");
  EXPECT_EQ(t.jobs.size(), 1u);
  std::vector<std::string> told;
  for (const TraceProblem& p : t.problems) told.push_back(p.text);
  EXPECT_THAT(
      told, ElementsAre("Submit cannot be read: \"yesterday\"", "the job id cannot be read: \"x\"", "ReqTRES cannot be read: \"cpu=many\"",
                        "the job has no size: neither nodes nor CPUs nor GPUs", "Timelimit cannot be read: \"soon\""));
}

TEST(Sacct, MissingColumnsAreNamed) {
  EXPECT_EQ(refusal("JobID|Start|Elapsed|ReqTRES\n"), "the first line names no column Submit");
  EXPECT_THAT(refusal("JobID|Submit|Start|Elapsed\n"), HasSubstr("ReqTRES"));
  EXPECT_THAT(refusal("JobID|Submit|Start|NNodes\n"), HasSubstr("ElapsedRaw"));
}

TEST(Trace, WhatIsNoTrace) {
  EXPECT_EQ(refusal(""), "the trace is empty");
  EXPECT_EQ(refusal("\n \n"), "the trace is empty");
  EXPECT_THAT(refusal("{\"jobs\": []}"), HasSubstr("JSON"));
  EXPECT_THAT(refusal("; only comments\n"), HasSubstr("no job"));
  EXPECT_THAT(refusal(std::string("1 0\0 0", 6)), HasSubstr("no text"));
  ReadOptions few;
  few.limits.jobs = 1;
  EXPECT_THAT(refusal("1 0 0 1 1 -1 -1 1 -1 -1 1\n2 0 0 1 1 -1 -1 1 -1 -1 1\n", few), HasSubstr("more than 1 jobs"));
}

TEST(Moments, AreReadAndPrinted) {
  for (int64_t t : {int64_t{1}, int64_t{951782400}, int64_t{1709164800}, int64_t{1735689599}, int64_t{4102358399}})
    EXPECT_EQ(read_moment(print_moment(t)), t) << print_moment(t);
  EXPECT_EQ(print_moment(1769903999), "2026-01-31T23:59:59");
  EXPECT_EQ(read_moment("2026-01-31T23:59:59+0100"), 1769903999) << "the zone is the same in the whole file";
  for (const char* wrong : {"", "None", "Unknown", "2026-13-01T00:00:00", "2026-01-31 23:59:59", "2026-01-31T23:59:59x", "-5"})
    EXPECT_FALSE(read_moment(wrong)) << wrong;
}

}  // namespace
}  // namespace muster::sim::replay
