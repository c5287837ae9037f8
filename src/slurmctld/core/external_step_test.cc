// External steps as the controller sees them (PrologFlags=Contain): a part of the job from its start, shown and recorded as a step.
#include <algorithm>
#include <map>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/query.h"
#include "slurmctld/core/records.h"
#include "slurmctld/core/row_query.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

constexpr char kOn[] = "AccountingStorageType=accounting_storage/slurmdbd\nJobAcctGatherType=jobacct_gather/linux\nPrologFlags=Contain\n";

StepUsagePtr use_of(uint64_t rss) {
  StepUsage usage;
  TaskUsage task;
  task.rss = Bytes(rss);
  task.user_time = seconds(1);
  add_task(usage, task, "a lie");
  return std::make_shared<const StepUsage>(usage);
}

struct TwoNodes : Bench {
  JobId job{};
  explicit TwoNodes(const std::string& conf = kOn) : Bench(conf) {
    job = submit([](JobRequest& r) { r.min_nodes = r.max_nodes = r.num_tasks = 2; });
    plan();
  }
  void rid(size_t index, uint64_t rss) { report(get(job).allocation->nodes[index].node.value, node_rpc::JobGone{job, 0, {}, use_of(rss)}); }
  // All that slurmdbd was to get so far, the last state of each record.
  std::map<StepId, StepRecord> records() {
    std::map<StepId, StepRecord> out;
    const Job& j = get(job);
    if (has_external_record(j)) out[kExternStep] = make_external_record(core.cluster(), j);
    if (has_batch_record(j)) out[kBatchStep] = make_batch_record(core.cluster(), j);
    return out;
  }
};

TEST(ExternalStep, IsSettledWhenTheJobStarts) {
  TwoNodes b;
  EXPECT_TRUE(b.get(b.job).run->contained);
  ASSERT_EQ(b.orders<node_rpc::LaunchBatch>().size(), 1u);
  EXPECT_TRUE(b.orders<node_rpc::LaunchBatch>()[0].job.contained);
  ASSERT_EQ(b.orders<node_rpc::PrepareJob>().size(), 1u) << "the script brings it along on its own node";
  EXPECT_TRUE(b.orders<node_rpc::PrepareJob>()[0].job.contained);
  b.expect_replay_equal();
  for (const char* flags : {"RunInJob", "X11", "Alloc,contain"})
    EXPECT_TRUE(settings_of("PrologFlags=" + std::string(flags) + "\n").prolog.contain) << flags;
  for (const char* flags : {"Alloc", "DeferBatch", "NoHold"}) {
    TwoNodes without("PrologFlags=" + std::string(flags) + "\n");
    EXPECT_FALSE(without.get(without.job).run->contained);
    for (const auto& prepare : without.orders<node_rpc::PrepareJob>()) EXPECT_FALSE(prepare.job.contained);
  }
}

TEST(ExternalStep, IsRecordedAsOneThatEndsWithItsJob) {
  TwoNodes b;
  EXPECT_TRUE(b.records().empty()) << "nothing runs yet";
  b.started(b.job);
  StepRecord record = b.records()[kExternStep];
  EXPECT_EQ(record.state, JobState::kRunning);
  EXPECT_EQ(record.name, "extern");
  EXPECT_EQ(record.nodes, 2u);
  EXPECT_EQ(record.tasks, 2u);
  EXPECT_EQ(record.node_list, "n[0-1]");
  b.ends(b.job, 3 << 8, false);
  record = b.records()[kExternStep];
  EXPECT_EQ(record.state, JobState::kCompleted);
  EXPECT_EQ(record.exit_status, 0);
  EXPECT_EQ(record.ended, b.get(b.job).ended);
  EXPECT_EQ(b.records()[kBatchStep].state, JobState::kFailed);
  b.expect_replay_equal();
}

TEST(ExternalStep, EachNodeTellsItsUseOnceWithTheJobsEnd) {
  TwoNodes b;
  b.started(b.job);
  b.rid(0, 77);
  EXPECT_EQ(b.get(b.job).run->external_usage, nullptr) << "it still runs there";
  b.ends(b.job, 0, false);
  b.rid(0, 10);
  b.rid(0, 10);
  b.rid(1, 30);
  ASSERT_TRUE(b.records()[kExternStep].usage);
  EXPECT_EQ(b.records()[kExternStep].usage->tasks, 2u);
  EXPECT_EQ(b.records()[kExternStep].usage->rss.max, Bytes(30));
  EXPECT_EQ(b.records()[kExternStep].usage->rss.total, Bytes(40));
  EXPECT_EQ(b.records()[kExternStep].usage->nodes, (std::vector<std::string>{"n0", "n1"}));
  b.expect_replay_equal();
}

TEST(ExternalStep, OfAJobThatHasNoneNothingIsTaken) {
  TwoNodes b("AccountingStorageType=accounting_storage/slurmdbd\n");
  b.started(b.job);
  b.ends(b.job, 0, false);
  b.rid(0, 10);
  EXPECT_EQ(b.get(b.job).run->external_usage, nullptr);
  EXPECT_FALSE(b.records().contains(kExternStep));
}

TEST(ExternalStep, IsWatchedByItsUserAndByNobodyElse) {
  TwoNodes b;
  b.started(b.job);
  rpc::AskCredential ask;
  ask.job = b.job;
  ask.has_step = true;
  ask.step = kExternStep;
  ask.purpose = rpc::CredentialPurpose::kWatch;
  const auto asked = [&](Uid uid) {
    Result<rpc::StepCreated> told = fail(Errc::kError);
    b.turn([&] { told = b.core.run(Caller{uid, Gid(100), {}, {}}, ask); });
    return told;
  };
  auto told = asked(Uid(1000));
  ASSERT_TRUE(told) << told.error().message();
  EXPECT_EQ(told->nodes.size(), 2u);
  EXPECT_FALSE(asked(Uid(1001)));
  ask.purpose = rpc::CredentialPurpose::kAttach;
  EXPECT_FALSE(asked(Uid(1000))) << "it has no streams";
}

}  // namespace
}  // namespace muster::slurmctld
