#include "cli/squeue/watch.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

struct WatchTest : testing::Test {
  SqueueOptions options =
      parse_squeue(std::vector<std::string>{"-h", "-o", "%i %t %M"}, [](const char*) -> const char* { return nullptr; }).options;
  Listing listing = make_listing(options);
  WatchedJobs jobs{options, listing};
  fields::Environment env;

  WatchTest() { env.now = from_unix(1000); }
  static JobRow row(uint32_t id, JobState state, uint32_t priority = 5) {
    JobRow r;
    r.id = JobId(id);
    r.state = state;
    r.priority = priority;
    r.partition = "p";
    if (state != JobState::kPending) r.started = from_unix(990);
    if (is_finished(state)) r.ended = from_unix(995);
    return r;
  }
  static rpc::JobChanges now(std::vector<JobRow> rows) {
    rpc::JobChanges c;
    c.jobs = std::move(rows);
    return c;
  }
};

using Lines = std::vector<std::string>;

TEST_F(WatchTest, OnlyLinesThatReadDifferentlyAreNews) {
  EXPECT_EQ(jobs.apply(now({row(1, JobState::kPending)}), env), Lines{"1 PD 0:00"});
  EXPECT_EQ(jobs.apply(now({row(1, JobState::kPending, 9)}), env), Lines{});  // the priority is not shown
  EXPECT_EQ(jobs.apply(now({row(1, JobState::kRunning)}), env), Lines{"1 R 0:10"});
  env.now = from_unix(1030);
  EXPECT_EQ(jobs.apply(now({row(1, JobState::kRunning)}), env), Lines{});  // that time goes by is no news
  EXPECT_EQ(jobs.lines(env), Lines{"1 R 0:40"});
}

TEST_F(WatchTest, AJobThatIsOverIsShownOnceMore) {
  jobs.apply(now({row(1, JobState::kRunning), row(2, JobState::kRunning)}), env);
  rpc::JobChanges c;
  c.left = {row(1, JobState::kCompleted), row(7, JobState::kCompleted)};  // 7 was never shown
  c.gone = {JobId(2)};
  EXPECT_EQ(jobs.apply(std::move(c), env), Lines{"1 CD 0:05"});
  EXPECT_EQ(jobs.jobs(), 0u);
}

TEST_F(WatchTest, TheOrderIsSqueuesOwn) {
  jobs.apply(now({row(1, JobState::kRunning), row(2, JobState::kPending, 1), row(3, JobState::kPending, 8)}), env);
  EXPECT_EQ(jobs.lines(env), (Lines{"3 PD 0:00", "2 PD 0:00", "1 R 0:10"}));
}

TEST_F(WatchTest, AfterANewStartOnlyWhatIsToldAgainStays) {
  jobs.apply(now({row(1, JobState::kPending), row(2, JobState::kPending)}), env);
  jobs.begin_again();
  EXPECT_EQ(jobs.apply(now({row(2, JobState::kPending)}), env), Lines{});
  jobs.end_of_look();
  EXPECT_EQ(jobs.lines(env), Lines{"2 PD 0:00"});
}

}  // namespace
}  // namespace muster::cli
