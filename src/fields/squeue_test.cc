// squeue's output: the expected texts are those of Debian's Slurm 22.05 for the same jobs.
#include <gtest/gtest.h>

#include "fields/format.h"
#include "fields/job_values.h"
#include "fields/sort.h"
#include "fields/squeue_formats.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

std::string line(std::string_view format, const TestJob& job, const Environment& env = test_environment()) {
  auto parsed = parse_format<JobView>(format);
  std::string out;
  parsed.format.row({job.row, job.request, env}, out);
  return out;
}
std::string long_line(std::string_view format, const TestJob& job, const Environment& env = test_environment()) {
  auto parsed = parse_long_format<JobView>(format);
  std::string out;
  parsed.format.row({job.row, job.request, env}, out);
  return out;
}
std::string header(std::string_view format) {
  std::string out;
  parse_format<JobView>(format).format.header(out);
  return out;
}

TestJob array_job() {
  TestJob j(3, "arr", "main");
  j.row.array_job_id = JobId(3);
  j.row.array_tasks = "2-15";
  j.row.array_max_running = 2;
  return j.waits(Reason::kJobArrayTaskLimit);
}
TestJob two_node() {
  TestJob j(1, "twonode", "main");
  j.row.time_limit_min = 60;
  j.runs("n[2-3]");
  j.row.nodes = 2;
  return j;
}

TEST(Squeue, DefaultFormat) {
  EXPECT_EQ(header(kSqueueFormat), "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n");
  EXPECT_EQ(line(kSqueueFormat, two_node()), "                 1      main  twonode     root  R       0:05      2 n[2-3]\n");
  EXPECT_EQ(line(kSqueueFormat, array_job()), "        3_[2-15%2]      main      arr     root PD       0:00      1 (JobArrayTaskLimit)\n");
}

TEST(Squeue, LongFormatKeepsTimesWhole) {
  EXPECT_EQ(header(kSqueueLongFormat), "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES "
                                       "NODELIST(REASON)\n");
  EXPECT_EQ(line(kSqueueLongFormat, array_job()), "        3_[2-15%2]      main      arr     root  PENDING       0:00 1-00:00:00      1 "
                                                  "(JobArrayTaskLimit)\n");
  EXPECT_EQ(line(kSqueueLongFormat, two_node()),
            "                 1      main  twonode     root  RUNNING       0:05   1:00:00      2 n[2-3]\n");
}

TEST(Squeue, StartFormat) {
  setenv("TZ", "UTC", 1);
  tzset();
  TestJob later(5, "later", "main");
  later.waits(Reason::kBeginTime).request.begin = from_unix(kNow + 3593);
  EXPECT_EQ(header(kSqueueStartFormat), "             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES         "
                                        "  NODELIST(REASON)\n");
  EXPECT_EQ(line(kSqueueStartFormat, later),
            "                 5      main    later     root PD 2026-11-21T10:20:08      1 (null)             "
            "  (BeginTime)\n");
  EXPECT_EQ(line("%S %e", array_job()), "N/A N/A\n");
}

TEST(Squeue, NarrowColumns) {
  TestJob j = two_node();
  EXPECT_EQ(line("<%3i><%.3i>", j), "<1  ><  1>\n");
  EXPECT_EQ(line("<%3P><%.3P>", j), "<mai><mai>\n");
  EXPECT_EQ(line("<%3N><%.3N>", j), "<n[2><n[2-3]>\n");  // node lists are whole when right justified
  EXPECT_EQ(header("<%3N><%.3N>"), "<NOD><NODELIST>\n");
  EXPECT_EQ(line("<%3R><%.3R>", j), "<n[2><n[2>\n");
  EXPECT_EQ(line("<%3l><%.3l>", j), "<1:0><1:00:00>\n");
  EXPECT_EQ(header("<%3l><%.3l>"), "<TIM><TIM>\n");
  EXPECT_EQ(line("<%3a><%.3a>", j), "<   ><(nu>\n");  // what printf makes of no text
  EXPECT_EQ(line("<%8a><%6a>", j), "<(null)  ><(null)>\n");
}

TEST(Squeue, AKeyThatNobodyNamedHasAnAsterisk) {
  TestJob j = two_node();
  EXPECT_EQ(line("%w", j), "(null)\n");
  j.request.wckey_is_default = true;
  EXPECT_EQ(line("%w", j), "*\n");
  j.request.wckey = "grant";
  EXPECT_EQ(line("%w", j), "*grant\n");
  j.request.wckey_is_default = false;
  EXPECT_EQ(line("%w", j), "grant\n");
}

TEST(Squeue, TextAroundFields) {
  TestJob j = two_node();
  EXPECT_EQ(header("abc %i def%%x %5i_x %e"), "abc JOBID defEXC_NODES JOBID_x END_TIME\n");
  auto unknown = parse_format<JobView>("%.7i %{ %i");
  ASSERT_EQ(unknown.messages.size(), 1u);
  EXPECT_EQ(unknown.messages[0], "Invalid job format specification: {");
  EXPECT_EQ(line("%.7i %{ %i", j), "      1 %{ 1\n");
  EXPECT_EQ(line("plain", j), "plain\n");
  EXPECT_EQ(line("%.i|%-5i|%05i|", j), "1|%-5i|1    |\n");
  EXPECT_EQ(parse_format<JobView>("%5").messages.size(), 1u);
  EXPECT_EQ(line("%5%i", j), "%51\n");
  EXPECT_EQ(line("%i%", j), "1\n");
  EXPECT_TRUE(parse_format<JobView>("%i%").messages.empty());
  EXPECT_EQ(header("%all|x"), "ACCOUNTll|x\n");
}

TEST(Squeue, TheReservationIsTheOneThatTheJobIsIn) {
  TestJob j = two_node();
  j.request.reservation = "later,now";
  EXPECT_EQ(line("%v", j), "later,now\n");
  j.row.reservation = "now";
  EXPECT_EQ(line("%v", j), "now\n");
}

TEST(Squeue, LongNames) {
  TestJob j = two_node();
  EXPECT_EQ(long_line("JobID,Name:.20,Partition:3:|,State:10|,UserName", j),
            "1                                twonodemai:|RUNNING   |root                \n");
  EXPECT_EQ(long_line("jobid:,NAME: ,Partition:5.x", j), "1twonode main .x\n");
  auto unknown = parse_long_format<JobView>("bogus,JobID");
  ASSERT_EQ(unknown.messages.size(), 1u);
  EXPECT_EQ(unknown.messages[0], "Invalid job format specification: bogus");
  EXPECT_EQ(unknown.format.columns.size(), 1u);
}

TEST(Squeue, AllFields) {
  EXPECT_EQ(header("%all").substr(0, 53), "ACCOUNT|TRES_PER_NODE|MIN_CPUS|MIN_TMP_DISK|END_TIME|");
  EXPECT_TRUE(header("%all").ends_with("|CORE_SPEC|SCHEDNODES|WORK_DIR\n"));
}

TEST(Squeue, AsksForTheCostlyPartsItPrints) {
  EXPECT_EQ(parse_format<JobView>("%i %j").format.parts(), 0u);
  EXPECT_EQ(parse_format<JobView>(kSqueueFormat).format.parts(), uint32_t{kRowNodes});
  EXPECT_EQ(parse_format<JobView>(kSqueueStartFormat).format.parts(), uint32_t{kRowNodes | kRowVerdict});
  EXPECT_EQ(parse_long_format<JobView>("jobid,tres-alloc").format.parts(), uint32_t{kRowTres});
  // Each bit is needed: without the part the field has nothing to print.
  TestJob j = two_node();
  j.row.tres.edit().allocated.cpus = 4;
  EXPECT_EQ(long_line("tres-alloc:", j), "cpu=4\n");
}

TEST(Squeue, ReasonsAndEnds) {
  TestJob failed(7, "fails", "main");
  failed.runs("n4").row.state = JobState::kFailed;
  failed.row.reason = Reason::kNonZeroExitCode;
  failed.row.exit_status = 3 << 8;
  EXPECT_EQ(line("%R|%r|%t", failed), "(NonZeroExitCode)|NonZeroExitCode|F\n");
  EXPECT_EQ(long_line("exit_code:", failed), "3:0\n");
  TestJob cancelled(10, "c", "main");
  cancelled.row.state = JobState::kCancelled;
  cancelled.row.reason = Reason::kPriority;
  EXPECT_EQ(line("<%R>", cancelled), "<>\n");
  TestJob blocked(11, "b", "main");
  blocked.waits(Reason::kReqNodeNotAvail).row.reason_detail = "ReqNodeNotAvail, UnavailableNodes:n1";
  EXPECT_EQ(line("%R", blocked), "(ReqNodeNotAvail, UnavailableNodes:n1)\n");
}

TEST(Squeue, RunTimeLeavesSuspensionsOut) {
  Environment env = test_environment();
  TestJob j = two_node();
  j.row.started = env.now - seconds(100);
  j.row.suspended_total = seconds(30);
  EXPECT_EQ(line("%M", j), "1:10\n");
  j.row.state = JobState::kSuspended;
  j.row.suspended = env.now - seconds(20);
  EXPECT_EQ(line("%M", j), "0:50\n");
}

TEST(Squeue, TimeFormats) {
  setenv("TZ", "UTC", 1);
  tzset();
  Environment env = test_environment();
  TestJob j = two_node();
  env.time_format = "relative";
  EXPECT_EQ(line("%S", j, env), "09:20:10\n");
  j.row.started += seconds(2 * 86400);
  EXPECT_EQ(line("%S", j, env), "Mon 09:20\n");
  env.time_format = "%a %T";
  EXPECT_EQ(line("%V", j, env), "Sat 09:20:08\n");
}

TEST(Squeue, OrderOfLines) {
  Environment env = test_environment();
  std::vector<TestJob> jobs = {two_node(), TestJob(2, "c3job", "big").runs("n1"), array_job(), TestJob(4, "held", "main"),
                               TestJob(5, "later", "main")};
  jobs[3].row.priority = 0;
  std::vector<JobView> views;
  for (const TestJob& j : jobs) views.push_back({j.row, j.request, env});
  auto ids = [&](std::string_view sort) {
    std::string out;
    for (uint32_t i : sorted_order(views, parse_sort<JobView>(sort).keys)) out += std::to_string(jobs[i].row.id.value) + " ";
    return out;
  };
  EXPECT_EQ(ids(kSqueueSort), "2 3 5 4 1 ");
  EXPECT_EQ(ids("-i"), "5 4 3 2 1 ");
  EXPECT_EQ(ids("S"), "1 2 3 4 5 ");                            // unknown starts last
  ASSERT_EQ(parse_sort<JobView>("bogus").messages.size(), 0u);  // b, o, g, u and s are letters
  EXPECT_EQ(parse_sort<JobView>("P,{").messages.at(0), "Invalid sort specification: {");
}

TEST(Squeue, FilePatterns) {
  Environment env = test_environment();
  TestJob j = array_job();
  j.row.array_task = 5;
  j.row.array_tasks.clear();
  j.row.id = JobId(12);
  JobView v{j.row, j.request, env};
  EXPECT_EQ(stream_path(v, Stream::kOut), "/tmp/w/slurm-3_5.out");
  EXPECT_EQ(stream_pattern(v, Stream::kOut), "slurm-%A_%a.out");
  EXPECT_EQ(stream_path(v, Stream::kErr), "") << "it goes where the output goes";
  EXPECT_EQ(stream_path(v, Stream::kIn), "/dev/null");
  j.request.std_out = "/x/%x.%4j.%u.%%";
  EXPECT_EQ(stream_path(v, Stream::kOut), "/x/arr.0012.root.%");
}

}  // namespace
}  // namespace muster::fields
