#include "cli/scancel/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::cli {
namespace {

Result<rpc::SignalJobs> plan(std::vector<std::string> arguments) {
  QueryParse<ScancelOptions> p = parse_scancel(arguments, [](const char*) -> const char* { return nullptr; });
  EXPECT_EQ(p.outcome, Outcome::kRun);
  return plan_cancel(p.options, p.operands);
}

TEST(Scancel, JobsTasksAndStepsInOneRequest) {
  Result<rpc::SignalJobs> r = plan({"5", "12_3", "12_[1-4,7]", "13.0", "7,8"});
  ASSERT_TRUE(r);
  ASSERT_EQ(r->filter.jobs.size(), 6u);
  EXPECT_EQ(r->filter.jobs[1].array_task, 3u);
  EXPECT_EQ(r->filter.jobs[2].array_tasks, "1-4,7");
  EXPECT_TRUE(r->filter.jobs[3].has_step);
  EXPECT_EQ(r->filter.jobs[5].job, JobId{8});
  EXPECT_EQ(r->signal, 0);
}

TEST(Scancel, FiltersAndSignals) {
  Result<rpc::SignalJobs> r = plan({"--me", "-t", "PENDING", "-p", "gpu,cpu", "-n", "train", "-w", "n[1-3]", "-s", "USR1", "-f"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->filter.users, std::vector<Uid>{Uid{getuid()}});
  EXPECT_EQ(r->filter.states, 1u << static_cast<unsigned>(JobState::kPending));
  EXPECT_EQ(r->filter.partitions, (std::vector<std::string>{"gpu", "cpu"}));
  EXPECT_EQ(r->filter.nodes, (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(r->signal, 10);
  EXPECT_EQ(r->scope, rpc::SignalScope::kFull);
}

TEST(Scancel, NothingToGoByIsNotEverything) {
  EXPECT_EQ(plan({}).error().message(), "No job identification provided");
  EXPECT_EQ(plan({"-s", "KILL"}).error().message(), "No job identification provided");
  EXPECT_EQ(plan({"x"}).error().message(), "Invalid job id x");
  EXPECT_EQ(plan({"-u", "no_such_user_here"}).error().message(), "Invalid user name: no_such_user_here");
}

TEST(Scancel, SaysWhatItDoesAsSlurmDoes) {
  auto lines = [](std::vector<std::string> arguments) {
    rpc::SignalJobs r = *plan(std::move(arguments));
    std::string out;
    for (const rpc::JobSelector& s : r.filter.jobs) out += action_line(r, s) + ";";
    return out;
  };
  EXPECT_EQ(lines({"5", "5.0", "6_2"}), "Terminating job 5;Terminating step 5.0;Terminating job 6_2;");
  EXPECT_EQ(lines({"-s", "HUP", "5", "5.0"}), "Signal 1 to job 5;Signal 1 to step 5.0;");
  EXPECT_EQ(lines({"-b", "-s", "10", "5"}), "Signal 10 to batch job 5;");
  EXPECT_EQ(lines({"-f", "-b", "-s", "10", "5"}), "Signal 10 to full job 5;") << "with --full, --batch is ignored";
}

TEST(Scancel, NamesItsFiltersAndSettings) {
  auto parse = [](std::vector<std::string> arguments) {
    return parse_scancel(arguments, [](const char*) -> const char* { return nullptr; }).options;
  };
  EXPECT_EQ(filters_text(parse({"5"})), "");
  EXPECT_EQ(filters_text(parse({"--name=x", "-p", "gpu"})), "job_name=x partition=gpu ");
  std::vector<std::string> lines = settings_lines(parse({"-vvv", "-b", "7"}), *plan({"-vvv", "-b", "7"}));
  EXPECT_EQ(lines[0], "account        : (null)");
  EXPECT_EQ(lines[1], "batch          : true");
  EXPECT_EQ(lines.back(), "job_id[0]      : 7");
}

TEST(Scancel, ErrorsInSlurmsWords) {
  rpc::PerJobError e{"5", errc_number(Errc::kInvalidJobId), ""};
  EXPECT_EQ(error_line(e, false), "Kill job error on job id 5: Invalid job id specified");
  rpc::PerJobError step{"5.1", errc_number(Errc::kAlreadyDone), ""};
  EXPECT_EQ(error_line(step, false), "Kill job error on job step id 5.1: Job/step already completing or completed");
  EXPECT_EQ(error_line(step, true), "");
  EXPECT_EQ(error_line(e, true), "");
  rpc::PerJobError denied{"6", errc_number(Errc::kAccessDenied), ""};
  EXPECT_NE(error_line(denied, true), "") << "quiet is about jobs that are not there";
}

}  // namespace
}  // namespace muster::cli
