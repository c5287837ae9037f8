#include "slurmctld/core/run_ends.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

struct EndBench : Bench {
  using Bench::Bench;
  // Runs `change` and gives the runs that its turns ended.
  template <class F>
  std::vector<EndedRun> ended_by(F&& change) {
    const Cluster before = core.cluster();
    const size_t first = log.size();
    change();
    return runs_ended(before, core.cluster(), Events(log.begin() + static_cast<ptrdiff_t>(first), log.end()));
  }
  JobId running(const std::function<void(JobRequest&)>& change = {}) {
    const JobId job = submit(change);
    EXPECT_EQ(plan(), 1u);
    started(job);
    return job;
  }
};

TEST(RunEnds, AJobThatEnds) {
  EndBench b;
  const JobId job = b.running([](JobRequest& r) {
    r.comment = "mine";
    r.excluded_nodes = "n3";
    r.alloc_node = "login";
  });
  b.wait(seconds(7));
  const auto runs = b.ended_by([&] { b.ends(job, 3 << 8); });
  ASSERT_EQ(runs.size(), 1u);
  const JobRecord& r = runs[0].record;
  EXPECT_EQ(r.key.id, job);
  EXPECT_EQ(r.state, JobState::kFailed);
  EXPECT_EQ(r.exit_status, 3 << 8);
  EXPECT_EQ(r.ended - r.started, seconds(7));
  EXPECT_EQ(r.comment, "mine");
  EXPECT_EQ(runs[0].excluded_nodes, "n3");
  EXPECT_EQ(runs[0].submit_host, "login");
  ASSERT_EQ(runs_over(b.core.cluster()).size(), 1u) << "a start says it again";
  EXPECT_EQ(runs_over(b.core.cluster())[0].record.key, r.key);
  EXPECT_EQ(jobs_known(b.core.cluster()), std::vector<uint32_t>{job.value});
  Events events;
  b.wait(seconds(200));
  for (const Event& e : b.log) events.push_back(e);
  EXPECT_EQ(jobs_forgotten(events), std::vector<uint32_t>{job.value});
}

TEST(RunEnds, AJobThatBegins) {
  EndBench b;
  const size_t first = b.log.size();
  const JobId job = b.running(), waits = b.submit([](JobRequest&r) { r.hold = true; });
  const auto begun = runs_begun(b.core.cluster(), Events(b.log.begin() + static_cast<ptrdiff_t>(first), b.log.end()));
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].record.key.id, job);
  EXPECT_NE(begun[0].record.key.id, waits);
  EXPECT_EQ(begun[0].record.node_list, "n0");
  ASSERT_EQ(runs_under_way(b.core.cluster()).size(), 1u) << "a start says it again";
  b.ends(job, 0);
  EXPECT_TRUE(runs_under_way(b.core.cluster()).empty());
}

TEST(RunEnds, ARequeueEndsARun) {
  EndBench b;
  const JobId job = b.running();
  const auto first = b.ended_by([&] {
    b.control(rpc::JobAction::kRequeue, job);
    b.gone(job, b.host(job));
  });
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].record.key.restarts, 0u);
  EXPECT_NE(first[0].record.started, kTimeUnset);
  EXPECT_EQ(first[0].record.node_list, "n0");
  EXPECT_TRUE(runs_over(b.core.cluster()).empty()) << "it waits again";
}

TEST(RunEnds, AJobThatNeverRan) {
  EndBench b;
  const JobId job = b.submit([](JobRequest& r) { r.hold = true; });
  const auto runs = b.ended_by([&] { b.cancel(job); });
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].record.state, JobState::kCancelled);
  EXPECT_EQ(runs[0].record.nodes, 0u);
  EXPECT_TRUE(b.ended_by([&] { b.wait(seconds(1)); }).empty());
}

TEST(RunEnds, TasksThatWaitedHaveNoRunOfTheirOwn) {
  EndBench b;
  const JobId array = b.submit([](JobRequest& r) {
    r.array = "0-3";
    r.hold = true;
  });
  EXPECT_TRUE(b.ended_by([&] { b.cancel(array, "1"); }).empty());
  EXPECT_EQ(b.ended_by([&] { b.cancel(array); }).size(), 1u);
}

}  // namespace
}  // namespace muster::slurmctld
