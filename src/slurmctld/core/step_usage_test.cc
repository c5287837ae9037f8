// What steps used, from the reports of nodes to the records: once, whichever comes first of the step's end and its nodes' word.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

constexpr char kOn[] = "AccountingStorageType=accounting_storage/slurmdbd\nJobAcctGatherType=jobacct_gather/linux\n";

StepUsagePtr use_of(uint32_t task, uint64_t rss, const std::string& node) {
  StepUsage u;
  TaskUsage t;
  t.task = task;
  t.rss = Bytes(rss);
  t.user_time = seconds(1);
  add_task(u, t, node);
  return std::make_shared<const StepUsage>(u);
}

// A job on two nodes, with a step of two tasks.
struct TwoNodes : Bench {
  JobId job{};
  StepId step{};
  explicit TwoNodes(const std::string& conf = kOn) : Bench(conf) {
    job = submit([](JobRequest& r) { r.min_nodes = r.max_nodes = r.num_tasks = 2; });
    plan();
    started(job);
    rpc::CreateStep c;
    c.job = job;
    c.request.min_nodes = c.request.max_nodes = c.request.num_tasks = 2;
    turn([&] { step = core.run(Caller::root(), c)->step; });
    store();
  }
  uint32_t node(size_t i) const { return get(job).allocation->nodes[i].node.value; }
  void gone(size_t i, uint64_t rss) {
    report(node(i), node_rpc::StepGone{job, 0, step, 0, false, false, use_of(static_cast<uint32_t>(i), rss, "a lie")});
  }
  void finish() {
    turn([&] { ASSERT_TRUE(core.run(Caller::root(), rpc::FinishStep{job, step, 0, false})); });
  }
  void script_ends(uint64_t rss) { report(host(job), node_rpc::BatchFinished{job, 0, 0, false, false, use_of(0, rss, "n0")}); }
  // Sends what slurmdbd has to get; the last state of each record counts.
  void store() {
    turn([&] { core.records_stored(0); });
    for (int i = 0; i < 20; ++i) {
      std::optional<UploadRecords> batch;
      for (const Effect& e : effects)
        if (auto* u = std::get_if<UploadRecords>(&e)) batch = *u;
      if (!batch) return;
      for (const StepRecord& s : make_upload(core.cluster(), *batch).steps)
        if (s.position > stored[s.id].position) stored[s.id] = s;
      turn([&] { core.records_stored(batch->position); });
    }
  }
  const StepUsage* used(StepId id) {
    store();
    return stored[id].usage.get();
  }
  std::map<StepId, StepRecord> stored;
};

void expect_both(TwoNodes& b) {
  const StepUsage* u = b.used(b.step);
  ASSERT_TRUE(u);
  EXPECT_EQ(u->tasks, 2u);
  EXPECT_EQ(u->rss.total, Bytes(300));
  EXPECT_EQ(u->rss.max, Bytes(200));
  EXPECT_EQ(u->nodes.at(u->rss.max_at.node), "n1") << "a node speaks for itself, whatever name it sends";
  EXPECT_EQ(u->nodes.at(u->rss.min_at.node), "n0");
  EXPECT_EQ(b.stored[b.step].state, JobState::kCompleted);
  EXPECT_TRUE(b.core.cluster().ended_steps.empty());
  b.expect_replay_equal();
}

TEST(StepUsage, OfNodesThatEndTheStep) {
  TwoNodes b;
  b.gone(0, 100);
  b.gone(1, 200);
  expect_both(b);
}

TEST(StepUsage, OfNodesThatTellItAfterSrunDid) {
  TwoNodes b;
  b.finish();
  EXPECT_FALSE(b.used(b.step));
  b.gone(0, 100);
  b.gone(1, 200);
  expect_both(b);
}

TEST(StepUsage, OfOneNodeBeforeAndOneAfter) {
  TwoNodes b;
  b.gone(1, 200);
  b.finish();
  EXPECT_EQ(b.used(b.step)->rss.total, Bytes(200));
  b.gone(0, 100);
  expect_both(b);
}

TEST(StepUsage, CountsOnceHoweverOftenItIsTold) {
  for (bool srun_first : {false, true}) {
    TwoNodes b;
    if (srun_first) b.finish();
    b.gone(0, 100);
    b.gone(0, 100);
    b.gone(1, 200);
    b.gone(1, 200);
    b.gone(0, 100);
    expect_both(b);
  }
}

TEST(StepUsage, OfAStepThatItsJobsEndEnded) {
  TwoNodes b;
  b.turn([&] {
    rpc::SignalJobs kill;
    kill.filter.jobs.emplace_back().job = b.job;
    kill.signal = 9;
    b.core.run(Caller::root(), kill);
  });
  ASSERT_TRUE(b.get(b.job).finished());
  b.gone(1, 200);
  b.gone(0, 100);
  b.script_ends(7);
  const StepUsage* u = b.used(b.step);
  ASSERT_TRUE(u);
  EXPECT_EQ(u->tasks, 2u);
  EXPECT_EQ(b.stored[b.step].state, JobState::kCancelled);
  ASSERT_TRUE(b.used(kBatchStep));
  EXPECT_EQ(b.used(kBatchStep)->rss.max, Bytes(7));
  b.expect_replay_equal();
}

TEST(StepUsage, OfANodeThatItsJobGaveUpAfterItsPartIsKept) {
  TwoNodes b;
  b.gone(1, 200);
  ASSERT_TRUE(b.update(b.job, "NumNodes", "1"));
  b.gone(0, 100);
  const StepUsage* u = b.used(b.step);
  ASSERT_TRUE(u);
  EXPECT_EQ(u->tasks, 2u);
  EXPECT_EQ(u->rss.total, Bytes(300));
  EXPECT_EQ(b.stored[b.step].nodes, 1u);
  b.expect_replay_equal();
}

TEST(StepUsage, OfTheBatchScriptOnce) {
  TwoNodes b;
  b.finish();
  b.script_ends(70);
  b.script_ends(90);
  ASSERT_TRUE(b.used(kBatchStep));
  EXPECT_EQ(b.used(kBatchStep)->rss.total, Bytes(70));
  b.expect_replay_equal();
}

TEST(StepUsage, ANodeThatIsGoneIsNotWaitedFor) {
  TwoNodes b;
  b.finish();
  b.gone(1, 200);
  EXPECT_EQ(b.core.cluster().ended_steps.size(), 1u);
  b.script_ends(1);
  for (size_t i : {0u, 1u}) b.report(b.node(i), node_rpc::JobGone{b.job, 0, {}});
  EXPECT_TRUE(b.core.cluster().ended_steps.empty());
  ASSERT_TRUE(b.used(b.step));
  EXPECT_EQ(b.used(b.step)->rss.total, Bytes(200));
  b.expect_replay_equal();
}

TEST(StepUsage, StepsThatNoNodeEverSawAreForgottenBeyondABound) {
  TwoNodes b;
  for (size_t i = 0; i < EndedSteps::kMost + 5; ++i) {
    rpc::CreateStep c;
    c.job = b.job;
    c.request.num_tasks = 1;
    c.request.overlap = true;
    StepId id{};
    b.turn([&] { id = b.core.run(Caller::root(), c)->step; });
    b.turn([&] { EXPECT_TRUE(b.core.run(Caller::root(), rpc::FinishStep{b.job, id, 0, false})); });
  }
  EXPECT_EQ(b.core.cluster().ended_steps.at(b.job.value).steps.size(), EndedSteps::kMost);
}

TEST(StepUsage, NobodyIsWaitedForWhereNothingIsGathered) {
  TwoNodes b("AccountingStorageType=accounting_storage/slurmdbd\n");
  b.finish();
  EXPECT_TRUE(b.core.cluster().ended_steps.empty());
  b.gone(0, 100);
  EXPECT_FALSE(b.used(b.step));
}

}  // namespace
}  // namespace muster::slurmctld
