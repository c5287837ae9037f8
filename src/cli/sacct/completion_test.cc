#include "cli/sacct/completion.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

const Time kNow = from_unix(1795827103);

// As Slurm 22.05 wrote it.
constexpr std::string_view kOfSlurm =
    "JobId=6 UserId=root(0) GroupId=root(0) Name=my job JobState=COMPLETED Partition=main TimeLimit=UNLIMITED "
    "StartTime=2026-11-28T00:51:27 "
    "EndTime=2026-11-28T00:51:29 NodeList=n1 NodeCnt=1 ProcCnt=1 WorkDir=/tmp/a b ReservationName= Tres=cpu=1,mem=1M,node=1,billing=1 "
    "Account= QOS= WcKey= Cluster=unknown SubmitTime=2026-11-28T00:51:22 EligibleTime=2026-11-28T00:51:24 ArrayJobId=3 ArrayTaskId=1 "
    "DerivedExitCode=0:0 ExitCode=3:0 ";

TEST(Completion, ALineOfSlurm) {
  const auto r = completion_record(kOfSlurm, kNow);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->key.id, JobId{6});
  EXPECT_EQ(r->user, "root");
  EXPECT_EQ(r->name, "my job");
  EXPECT_EQ(r->state, JobState::kCompleted);
  EXPECT_EQ(r->time_limit_min, kUnlimited32);
  EXPECT_EQ(r->ended - r->started, seconds(2));
  EXPECT_EQ(r->work_dir, "/tmp/a b");
  EXPECT_EQ(r->tres_allocated.cpus, 1u);
  EXPECT_EQ(r->array_job_id, JobId{3});
  EXPECT_EQ(r->array_task, 1u);
  EXPECT_EQ(r->exit_status, 3 << 8);
}

TEST(Completion, LinesThatAreNone) {
  for (const char* line : {"", "break JobId=99 JobState=FAILED", "JobId=x UserId=root(0)", "UserId=root(0)", "JobId=", "JobId"})
    EXPECT_FALSE(completion_record(line, kNow).has_value()) << line;
  EXPECT_EQ(completion_record("JobId=4 UserId=( ExitCode=: NodeList=(null) EndTime=never", kNow)->ended, kTimeUnset);
}

TEST(Completion, Filters) {
  const JobRecord r = *completion_record(kOfSlurm, kNow);
  rpc::JobRecordFilter f;
  EXPECT_TRUE(meets_filter(f, r));
  f.from = r.ended;
  f.until = r.ended + seconds(1);
  EXPECT_TRUE(meets_filter(f, r));
  f.from = f.until;
  EXPECT_FALSE(meets_filter(f, r));
  f = {};
  f.names = {"other", "MY JOB"};
  f.nodes = {"n1"};
  f.states = 1u << static_cast<unsigned>(JobState::kCompleted);
  EXPECT_TRUE(meets_filter(f, r));
  f.nodes = {"n2"};
  EXPECT_FALSE(meets_filter(f, r));
  f = {};
  f.users = {Uid{1000}};
  EXPECT_FALSE(meets_filter(f, r));
  f = {};
  f.jobs.emplace_back().job = JobId{3};
  EXPECT_TRUE(meets_filter(f, r)) << "its array";
  f.min_nodes = 2;
  EXPECT_FALSE(meets_filter(f, r));
}

}  // namespace
}  // namespace muster::cli
