#include "cli/squeue/query.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

SqueueOptions options(std::vector<std::string> arguments) {
  QueryParse<SqueueOptions> p = parse_squeue(arguments, [](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(p.outcome, Outcome::kRun);
  return p.options;
}

constexpr uint32_t bit(JobState s) { return 1u << static_cast<unsigned>(s); }

TEST(SqueueQuery, ShowsWhatIsNotOverUnlessAsked) {
  rpc::QueryJobs q = *make_query(options({}));
  EXPECT_EQ(q.filter.states, bit(JobState::kPending) | bit(JobState::kRunning) | bit(JobState::kSuspended));
  EXPECT_EQ(q.filter.state_flags, kJobCompleting | kJobStopped);
  q = *make_query(options({"-t", "all"}));
  EXPECT_EQ(q.filter.states, 0u);
  EXPECT_EQ(q.filter.state_flags, 0u);
  q = *make_query(options({"-t", "R,CD"}));
  EXPECT_EQ(q.filter.states, bit(JobState::kRunning) | bit(JobState::kCompleted));
}

TEST(SqueueQuery, FiltersGoToTheController) {
  rpc::QueryJobs q = *make_query(options({"-j", "5,6_7", "-p", "gpu", "-u", "0", "-w", "n[1-2]", "-A", "a,b", "-a"}));
  ASSERT_EQ(q.filter.jobs.size(), 2u);
  EXPECT_EQ(q.filter.jobs[1].array_task, 7u);
  EXPECT_EQ(q.filter.users, std::vector<Uid>{Uid{0}});
  EXPECT_EQ(q.filter.nodes.size(), 2u);
  EXPECT_EQ(q.filter.accounts.size(), 2u);
  EXPECT_TRUE(q.show_all);
}

TEST(SqueueQuery, WrongValuesAreErrors) {
  EXPECT_EQ(make_query(options({"-t", "nope"})).error().message(), "Invalid job state specified: nope");
  EXPECT_EQ(make_query(options({"-u", "no_such_user_here"})).error().message(), "Invalid user: no_such_user_here");
}

std::vector<std::string> lines_of(std::vector<std::string> arguments, JobRow row) {
  std::vector<std::string> out;
  each_line(options(arguments), std::move(row), [&](const JobRow& one) {
    out.push_back(std::to_string(one.array_task == kNoArrayTask ? 0 : one.array_task) + " " + one.partition + " " +
                  (one.tiers.empty() ? "" : std::to_string(one.tiers[0])));
  });
  return out;
}

TEST(SqueueRows, LinesOfArraysAndPartitions) {
  using Lines = std::vector<std::string>;
  JobRow row;
  row.id = row.array_job_id = JobId{3};
  row.array_tasks = "7-8%4";
  row.partition = "a,b";
  row.tiers = {1, 9};
  EXPECT_EQ(lines_of({}, row), Lines{"0 a,b 1"});
  EXPECT_EQ(lines_of({"-r"}, row), (Lines{"7 a,b 1", "8 a,b 1"}));
  EXPECT_EQ(lines_of({"-P"}, row), (Lines{"0 a 1", "0 b 9"}));
  EXPECT_EQ(lines_of({"-P", "-r"}, row), (Lines{"7 a 1", "8 a 1", "7 b 9", "8 b 9"}));
  row.state = JobState::kRunning;
  row.array_tasks.clear();
  EXPECT_EQ(lines_of({"-P", "-r"}, row), Lines{"0 a,b 1"});
}

TEST(SqueueRows, RunningOverAndUnder) {
  SqueueOptions o;
  JobRow row;
  row.state = JobState::kRunning;
  row.started = from_unix(1000);
  o.running_over_seconds = 60;
  EXPECT_FALSE(kept(o, row, Uid{1}, Uid{2}, from_unix(1060)));
  EXPECT_TRUE(kept(o, row, Uid{1}, Uid{2}, from_unix(1061)));
  o.notme = true;
  EXPECT_FALSE(kept(o, row, Uid{2}, Uid{2}, from_unix(1061)));
  row.state = JobState::kPending;
  EXPECT_FALSE(kept(o, row, Uid{1}, Uid{2}, from_unix(1061)));
}

TEST(SqueueSteps, SelectJobsTasksAndSteps) {
  StepRow row;
  row.job = JobId{20};
  row.array_job_id = JobId{12};
  row.array_task = 3;
  row.id = StepId{1};
  auto wanted = [](std::vector<std::string> list) { return *step_selectors(options({"-s", list[0]})); };
  EXPECT_TRUE(selects({}, row));
  EXPECT_TRUE(selects(wanted({"12"}), row));
  EXPECT_TRUE(selects(wanted({"12_3.1"}), row));
  EXPECT_TRUE(selects(wanted({"20.1"}), row));
  EXPECT_FALSE(selects(wanted({"20.0"}), row));
  EXPECT_FALSE(selects(wanted({"12_4"}), row));
}

}  // namespace
}  // namespace muster::cli
