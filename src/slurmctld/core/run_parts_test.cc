// A run whose job gives up nodes is several records in accounting, one for each part: guide faq, "Can I change my job's size?"; sacct(1)
// --duplicates. And what steps say of the time that they were suspended.
#include "slurmctld/core/run_parts.h"

#include "slurmctld/core/records_testing.h"
#include "slurmctld/core/run_ends.h"

namespace muster::slurmctld {
namespace {

struct Resizing : RecordBench {
  explicit Resizing(uint32_t nodes = 4, const std::string& more = "") : RecordBench(more) {
    connect();
    submitted = now;
    job = submit([&](JobRequest& r) {
      r.min_nodes = r.max_nodes = nodes;
      r.exclusive = Exclusive::kNode;
    });
    wait(seconds(5));
    plan();
    started(job);
    begun = get(job).started;
  }
  void shrink(const std::string& count) {
    ASSERT_TRUE(update(job, "NumNodes", count));
    for (uint32_t node = static_cast<uint32_t>(get(job).allocation->nodes.size()); node < 4; ++node)
      if (get(job).is_leaving(NodeId(node))) gone(job, node);
  }
  // Its records in the order in which they began.
  std::vector<JobRecord> parts() {
    drain();
    std::vector<JobRecord> out;
    for (const auto& [key, record] : jobs)
      if (key.id == job) out.push_back(record);
    return out;
  }
  Time submitted{}, begun{};
  JobId job{};
};

TEST(RunParts, EachIsARecordOfItsOwn) {
  Resizing b;
  b.wait(seconds(10));
  b.shrink("3");
  const Time first = b.now;
  b.wait(seconds(20));
  b.shrink("1");
  const Time second = b.now;
  b.wait(seconds(30));
  b.ends(b.job);
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 3u);
  const Time began[] = {b.begun, first, second}, ended[] = {first, second, b.now};
  const uint32_t nodes[] = {4, 3, 1};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].key.submitted, i == 0 ? b.submitted : began[i]);
    EXPECT_EQ(parts[i].first_submitted, i == 0 ? kTimeUnset : b.submitted);
    EXPECT_EQ(parts[i].original_sluid(), b.get(b.job).sluid());
    EXPECT_EQ(parts[i].started, began[i]);
    EXPECT_EQ(parts[i].ended, ended[i]);
    EXPECT_EQ(parts[i].nodes, nodes[i]);
    EXPECT_EQ(parts[i].tres_allocated.cpus, nodes[i] * 4u);
    EXPECT_EQ(parts[i].resized(), i < 2);
    EXPECT_EQ((parts[i].flags & kJobResizing) != 0, i < 2);
    EXPECT_TRUE(parts[i].over());
  }
  EXPECT_EQ(parts[1].eligible, first) << "it did not wait for its second part";
  EXPECT_EQ(parts[2].state, JobState::kCompleted);
  b.expect_replay_equal();
}

TEST(RunParts, OneThatLastedForNoTimeIsNone) {
  Resizing b;
  b.shrink("3");  // at the moment of its start
  b.wait(seconds(10));
  b.shrink("2");
  b.shrink("1");
  b.wait(seconds(10));
  b.ends(b.job);
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].nodes, 3u);
  EXPECT_EQ(parts[1].nodes, 1u);
}

TEST(RunParts, ANodeThatIsLostEndsOneToo) {
  RecordBench b;
  b.connect();
  const JobId job = b.submit([](JobRequest& r) {
    r.min_nodes = r.max_nodes = 2;
    r.no_kill = true;
  });
  b.plan();
  b.started(job);
  b.wait(seconds(10));
  b.set_node("n1", "down");
  b.wait(seconds(10));
  b.ends(job);
  b.drain();
  std::vector<std::pair<std::string, bool>> parts;
  for (const auto& [key, record] : b.jobs) parts.emplace_back(record.node_list, record.resized());
  EXPECT_EQ(parts, (std::vector<std::pair<std::string, bool>>{{"n[0-1]", true}, {"n0", false}}));
}

TEST(RunParts, StepsStayWithThePartInWhichTheyBegan) {
  Resizing b;
  const StepId before = make_step(b, b.job, true);
  b.wait(seconds(10));
  b.shrink("2");
  b.wait(seconds(10));
  const StepId after = make_step(b, b.job, true);
  b.wait(seconds(10));
  b.ends(b.job);
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 2u);
  std::map<StepId, JobRecordKey> of;
  for (const auto& [key, step] : b.steps) {
    EXPECT_TRUE(of.emplace(step.id, step.job).second) << "step " << step.id.value << " is in two parts";
    EXPECT_NE(step.ended, kTimeUnset) << "step " << step.id.value;
  }
  EXPECT_EQ(of.at(before), parts[0].key);
  EXPECT_EQ(of.at(kBatchStep), parts[0].key);
  EXPECT_EQ(of.at(after), parts[1].key);
}

TEST(RunParts, WhatItWasSuspendedIsDividedAmongThem) {
  Resizing b;
  const auto suspend_for = [&](Duration d) {
    b.control(rpc::JobAction::kSuspend, b.job);
    b.wait(d);
    b.control(rpc::JobAction::kResume, b.job);
  };
  b.wait(seconds(10));
  suspend_for(seconds(3));
  b.shrink("2");
  b.wait(seconds(10));
  suspend_for(seconds(4));
  b.ends(b.job);
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].suspended_total, seconds(3));
  EXPECT_EQ(parts[1].suspended_total, seconds(4));
}

TEST(RunParts, TheNextRunBeginsAnew) {
  Resizing b(4, "JobRequeue=1\n");
  b.wait(seconds(10));
  b.shrink("2");
  b.wait(seconds(10));
  b.control(rpc::JobAction::kRequeue, b.job);
  for (uint32_t node : {0u, 1u}) b.gone(b.job, node);
  EXPECT_TRUE(b.get(b.job).run->resizes.empty());
  b.plan();
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_TRUE(parts[0].resized());
  EXPECT_TRUE(parts[1].flags & kJobRequeued);
  EXPECT_EQ(parts[2].key.restarts, 1u);
  EXPECT_EQ(parts[2].first_submitted, kTimeUnset);
  EXPECT_EQ(parts[2].nodes, 4u);
}

// What is told of a run once (JobCompType) is about all of it.
TEST(RunParts, TheWholeRunIsTold) {
  Resizing b;
  b.wait(seconds(10));
  b.shrink("2");
  b.wait(seconds(10));
  const Cluster before = b.core.cluster();
  b.ends(b.job);
  const std::vector<EndedRun> ended = runs_ended(before, b.core.cluster(), b.last_events);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].record.key.submitted, b.submitted);
  EXPECT_EQ(ended[0].record.started, b.begun);
}

// The nodes that a job gives up are no matter of accounting.
TEST(RunParts, AJobWhoseNodesAreNotFreeYetRuns) {
  Resizing b;
  b.wait(seconds(10));
  ASSERT_TRUE(b.update(b.job, "NumNodes", "2"));
  ASSERT_TRUE(b.get(b.job).flags & kJobResizing);
  const std::vector<JobRecord> parts = b.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(parts[1].flags & kJobResizing);
  EXPECT_EQ(parts[1].state, JobState::kRunning);
}

// ---- suspended steps
TEST(StepRecords, KnowWhatTheyWereSuspended) {
  Resizing b;
  const StepId first = make_step(b, b.job, true);
  b.wait(seconds(10));
  b.control(rpc::JobAction::kSuspend, b.job);
  const Time since = b.now;
  b.drain();
  ASSERT_TRUE(b.step(b.job, first));
  EXPECT_EQ(b.step(b.job, first)->suspended, since);
  b.wait(seconds(7));
  b.control(rpc::JobAction::kResume, b.job);
  const StepId second = make_step(b, b.job, true);
  b.drain();
  EXPECT_EQ(b.step(b.job, first)->suspended, kTimeUnset);
  EXPECT_EQ(b.step(b.job, first)->suspended_total, seconds(7));
  EXPECT_EQ(b.step(b.job, second)->suspended_total, Duration::zero()) << "it began later";
  b.control(rpc::JobAction::kSuspend, b.job);
  b.wait(seconds(2));
  b.cancel(b.job);
  b.drain();
  EXPECT_EQ(b.step(b.job, first)->suspended_total, seconds(9));
  EXPECT_EQ(b.step(b.job, second)->suspended_total, seconds(2));
  EXPECT_EQ(b.step(b.job, kBatchStep)->suspended_total, seconds(9));
  EXPECT_EQ(b.step(b.job, first)->suspended, kTimeUnset);
  EXPECT_EQ(b.record(b.job)->suspended_total, seconds(9)) << "it was not running when it was cancelled";
}

}  // namespace
}  // namespace muster::slurmctld
