// JobMemoryReduced: what is decided of a job's memory use, and what the event changes. Who asks the nodes: mem_update_test.cc.
#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr Bytes mebibytes(uint64_t count) { return Bytes(count << 20); }

// A job on two nodes, with 2000 MiB on each.
struct Holding : Bench {
  JobId job{};
  explicit Holding(const std::string& conf = "", const std::string& weights = "")
      : Bench("JobAcctGatherType=jobacct_gather/linux\n" + conf) {
    if (!conf.empty()) turn([&] { core.learn_directory(accounts()); });
    if (!weights.empty()) change_partition("TRESBillingWeights", weights);
    job = submit([](JobRequest& r) {
      r.user_name = "alice";
      r.min_nodes = r.max_nodes = r.num_tasks = 2;
      r.mem_per_node_mb = 2000;
      r.mem_update = "20@10";
    });
    plan();
    started(job);
  }
  static rpc::Entities accounts() {
    ADirectory d;
    d.qos("normal").account("root").account("team").user("alice", "team").association("alice", "team", {"normal"});
    return d.entities();
  }
  void change_partition(const std::string& key, const std::string& value) {
    turn([&] { ASSERT_TRUE(core.run(Caller::root(), rpc::UpdatePartition{"main", false, false, {{key, "=", value}}})); });
  }
  // Decides, and applies what was decided as a replay of the log does.
  void reduce(std::optional<Bytes> used) {
    FeasibilityCache feasibility;
    Events out;
    reduce_memory(View{core.cluster(), core.indexes(), settings, feasibility, now, Caller::root()}, get(job), used, out);
    for (const Event& e : out) {
      core.replay(e);
      log.push_back(e);
    }
  }
  std::vector<uint64_t> memory() const {
    std::vector<uint64_t> out;
    for (const NodeShare& share : get(job).allocation->nodes) out.push_back(share.mem_mb);
    return out;
  }
};
using Sizes = std::vector<uint64_t>;

TEST(ReduceMemory, EachNodeHasTheUseOfTheLargestAndTheMargin) {
  Holding b;
  const Time due = b.get(b.job).run->memory_due;
  EXPECT_EQ(due, b.now + minutes(10));
  const uint64_t epoch = b.core.cluster().use_epoch;
  b.reduce(mebibytes(500));
  EXPECT_EQ(b.memory(), (Sizes{600, 600}));
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(b.node(i).mem_used_mb, 600u);
  EXPECT_EQ(b.get(b.job).run->memory_due, kTimeUnset);
  EXPECT_GT(b.core.cluster().use_epoch, epoch);  // a job that waits for memory is looked at
  b.expect_replay_equal();
  b.ends(b.job);
  b.gone(b.job, 1);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(b.node(i).mem_used_mb, 0u);
  b.expect_replay_equal();
}

TEST(ReduceMemory, ATenthStaysAndNothingGrows) {
  Holding b;
  b.reduce(Bytes(0));
  EXPECT_EQ(b.memory(), (Sizes{200, 200}));
  Holding full;
  full.reduce(mebibytes(3000));
  EXPECT_EQ(full.memory(), (Sizes{2000, 2000}));
  EXPECT_EQ(full.get(full.job).run->memory_due, kTimeUnset);
  full.expect_replay_equal();
  Holding silent;
  silent.reduce(std::nullopt);
  EXPECT_EQ(silent.memory(), (Sizes{2000, 2000}));
  EXPECT_EQ(silent.get(silent.job).run->memory_due, kTimeUnset);
}

TEST(ReduceMemory, StepsThatRunHaveNoMoreThanTheJob) {
  Holding b;
  rpc::CreateStep c;
  c.job = b.job;
  c.request.num_tasks = 2;
  b.turn([&] { ASSERT_TRUE(b.core.run(Caller::root(), c)); });
  b.reduce(mebibytes(500));
  for (const StepShare& share : b.get(b.job).steps.at(0).shares) EXPECT_EQ(share.mem_mb, 600u);
  b.expect_replay_equal();
}

TEST(ReduceMemory, BillingFollows) {
  Holding b("", "Mem=0.01");
  EXPECT_EQ(b.get(b.job).allocation->billing, 40u);
  b.reduce(mebibytes(500));
  EXPECT_EQ(b.get(b.job).allocation->billing, 12u);
  b.expect_replay_equal();
}

TEST(ReduceMemory, WhatTheJobUsesIsCountedByWhatItHasFromThenOn) {
  Holding b("AccountingStorageType=accounting_storage/slurmdbd\n");
  b.wait(seconds(100));
  b.reduce(mebibytes(500));
  b.wait(seconds(100));
  EXPECT_NEAR(b.core.cluster().used_by_association(2, b.now).of(TresTable::kMem), 100 * 4000 + 100 * 1200, 4000);
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
