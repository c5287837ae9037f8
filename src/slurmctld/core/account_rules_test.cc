// Rules of accounts and partitions at work: what jobs are billed, the QOS of a partition, UsageThreshold, what scontrol show assoc_mgr tells.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/assoc_mgr_rows.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

using Limits = std::vector<Limit>;

struct Site : Bench {
  explicit Site(const std::string& more = "", const Limits& of_part = {}, const std::vector<std::string>& flags = {},
                std::optional<double> threshold = {})
      : Bench("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\nPriorityCalcPeriod=1\n"
              "PriorityDecayHalfLife=1-0\n" +
              more) {
    ADirectory d;
    d.qos("normal").qos("part").account("root").account("team").account("other");
    d.user("alice", "team").association("alice", "team", {"normal"}).user("bob", "other").association("bob", "other", {"normal"});
    all = d.entities();
    all.qos[0].flags = flags;
    all.qos[0].usage_threshold = threshold;
    all.qos[1].limits = of_part;
    for (AssociationRecord& a : all.associations) a.depth = a.user.empty() ? (a.account == "root" ? 0 : 1) : 2;
    learn();
  }
  void learn() {
    turn([&] { core.learn_directory(all); });
  }
  Result<> change_partition(const std::string& key, const std::string& value) {
    Result<rpc::Messages> r;
    turn([&] { r = core.run(Caller::root(), rpc::UpdatePartition{"main", false, false, {{key, "=", value}}}); });
    return r ? Result<>() : std::unexpected(r.error());
  }
  JobId of(const std::string& user, uint32_t tasks, uint64_t mem_mb = 0) {
    return submit([&](JobRequest& r) {
      r.user_name = user;
      r.num_tasks = tasks;
      r.time_limit_min = 60;
      if (mem_mb) r.mem_per_node_mb = mem_mb;
    });
  }
  std::string tres(JobId job) {
    const JobRow row =
        make_job_row(core.cluster(), sched::PriorityRule(core.cluster(), settings.priority, now), get(job), kRowTres | kRowNodes);
    return tres_text(row.tres->requested) + " / " + tres_text(row.tres->allocated);
  }
  Reason reason(JobId job) const { return reason_shown(core.cluster(), get(job)); }
  rpc::Entities all;
};

TEST(AccountRules, AJobIsBilledByTheWeightsThatItsPartitionHadAtItsStart) {
  Site b("SelectTypeParameters=CR_CPU_Memory\n");
  EXPECT_FALSE(b.change_partition("TRESBillingWeights", "CPU=much"));
  ASSERT_TRUE(b.change_partition("TRESBillingWeights", "CPU=2,Mem=0.001"));
  const JobId job = b.of("alice", 2, 1500);
  EXPECT_TRUE(b.tres(job).starts_with("cpu=2,mem=1500M,node=1,billing=5 / ")) << b.tres(job);
  b.plan();
  EXPECT_EQ(b.get(job).allocation->billing, 5u);
  ASSERT_TRUE(b.change_partition("TRESBillingWeights", "CPU=100"));
  EXPECT_TRUE(b.tres(job).ends_with("billing=5")) << b.tres(job);
  b.started(job);
  b.wait(seconds(100));
  EXPECT_NEAR(b.core.cluster().used_by_association(2, b.now).of(TresTable::kBilling), 500, 10);
  EXPECT_NEAR(b.core.cluster().used_by_association(2, b.now).of(TresTable::kCpu), 200, 5);
  b.expect_replay_equal();
}

TEST(AccountRules, ALimitOnBillingGoesByTheWeights) {
  Site b("SelectTypeParameters=CR_CPU_Memory\n");
  ASSERT_TRUE(b.change_partition("TRESBillingWeights", "CPU=3"));
  b.all.associations[1].limits = {{LimitKind::kGrpTres, "billing", 10}};
  b.learn();
  const JobId first = b.of("alice", 2), second = b.of("alice", 2), small = b.of("alice", 1);
  b.plan();
  EXPECT_EQ(b.state(first), JobState::kRunning);
  EXPECT_EQ(b.reason(second), Reason::kAssocGrpBilling);
  EXPECT_EQ(b.state(small), JobState::kRunning);
}

// A job that may be on one node or on two has half of its bill on one of them at least; with nodes it is known.
TEST(AccountRules, ALimitOnBillingOfANodeGoesByTheWeights) {
  Site b("SelectTypeParameters=CR_CPU_Memory\n");
  ASSERT_TRUE(b.change_partition("TRESBillingWeights", "CPU=3"));
  b.all.associations[3].limits = {{LimitKind::kMaxTresPerNode, "billing", 6}};
  b.learn();
  const JobId spread = b.submit([&](JobRequest& r) {
    r.user_name = "alice";
    r.min_nodes = r.max_nodes = 2;
    r.num_tasks = 4;
    r.ntasks_per_node = 2;
  });
  const JobId dense = b.of("alice", 3), other = b.of("bob", 3);
  b.plan();
  EXPECT_EQ(b.state(spread), JobState::kRunning);
  EXPECT_EQ(b.reason(dense), Reason::kAssocMaxBillingPerNode);
  EXPECT_EQ(b.state(other), JobState::kRunning);
}

// slurm.conf(5): "do not attempt to initiate any lower priority jobs in that partition".
TEST(AccountRules, AJobThatWaitsForItsAssociationStopsThoseBehindItWhereTheSiteWantsThat) {
  for (const bool stops : {false, true}) {
    Site b(stops ? "SchedulerParameters=assoc_limit_stop\n" : "");
    b.all.associations[3].limits = {{LimitKind::kMaxJobs, "", 1}};
    b.learn();
    const JobId first = b.of("alice", 1), second = b.of("alice", 1), other = b.of("bob", 1);
    b.plan();
    EXPECT_EQ(b.state(first), JobState::kRunning);
    EXPECT_EQ(b.reason(second), Reason::kAssocMaxJobsLimit);
    EXPECT_EQ(b.state(other), stops ? JobState::kPending : JobState::kRunning);
    if (stops) EXPECT_EQ(b.reason(other), Reason::kPriority);
  }
}

TEST(AccountRules, TheQosOfAPartitionHoldsForJobsThatRunThere) {
  Site b("", {{LimitKind::kGrpTres, "cpu", 3}});
  const JobId first = b.of("alice", 2);
  b.plan();
  b.started(first);
  ASSERT_TRUE(b.change_partition("QOS", "part"));
  const JobId second = b.of("bob", 2), third = b.of("bob", 1);
  b.plan();
  EXPECT_EQ(b.reason(second), Reason::kQOSGrpCpuLimit) << "what ran there before counts";
  EXPECT_EQ(b.state(third), JobState::kRunning);
  b.wait(seconds(60));
  EXPECT_NEAR(b.core.cluster().used_by_qos("part", b.now).of(TresTable::kCpu), 180, 10);
  ASSERT_TRUE(b.change_partition("QOS", "NONE"));
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(second), JobState::kRunning);
  b.expect_replay_equal();
}

TEST(AccountRules, WhoIsBelowTheUsageThresholdWaits) {
  Site b("", {}, {"EnforceUsageThreshold"}, 0.6);
  const JobId first = b.of("alice", 16);
  b.plan();
  b.started(first);
  b.wait(minutes(5));
  const AllocationPtr had = b.get(first).allocation;
  b.ends(first);
  for (size_t i = 1; i < had->nodes.size(); ++i) b.gone(first, had->nodes[i].node.value);
  b.wait(seconds(5));
  const JobId alice = b.of("alice", 1), bob = b.of("bob", 1);
  b.plan();
  EXPECT_EQ(b.state(bob), JobState::kRunning);
  EXPECT_EQ(b.reason(alice), Reason::kQOSUsageThreshold);
  b.all.qos[0].flags.clear();
  b.learn();
  EXPECT_EQ(b.plan(), 1u) << "only with EnforceUsageThreshold; it waits for " << reason_name(b.reason(alice));
}

TEST(AccountRules, AssocMgrTellsWhatIsHeldAndUsed) {
  Site b("PrivateData=users\nAccountingStorageTRES=gres/gpu\n");
  b.all.associations[1].limits = {{LimitKind::kGrpTres, "cpu", 9}};
  b.learn();
  const JobId job = b.of("alice", 4);
  b.plan();
  b.started(job);
  b.wait(minutes(1));
  auto ask = [&](const Caller& who, rpc::QueryAssocMgr query = {}) {
    return query_assoc_mgr(b.core.cluster(), {}, b.settings.config().accounting_storage_tres, b.now, query,
                           Privacy(b.settings, b.core.cluster().directory, who));
  };
  const rpc::AssocMgrRows all = ask(Caller::root());
  ASSERT_EQ(all.tres[0], "cpu");
  EXPECT_EQ(all.users.size(), 2u);
  ASSERT_EQ(all.associations.size(), 5u);
  ASSERT_EQ(all.qos.size(), 2u);
  for (const AssociationUse& a : all.associations)
    if (a.record.account == "team") {
      EXPECT_EQ(a.use.jobs, 1u);
      EXPECT_EQ(a.use.held[0], 4u);
      EXPECT_GE(a.use.used_minutes[0], 3u);
      EXPECT_EQ(a.use.run_minutes[0], 4u * 59);
    }
  ASSERT_EQ(all.qos[0].users.size(), 1u);
  EXPECT_EQ(all.qos[0].users[0].name, "1000");
  EXPECT_EQ(all.qos[0].accounts[0].use.held[0], 4u);
  rpc::QueryAssocMgr only;
  only.accounts = {"team"};
  only.show_users = only.show_qos = false;
  EXPECT_EQ(ask(Caller::root(), only).associations.size(), 2u);
  EXPECT_TRUE(ask(Caller::root(), only).users.empty());
  Caller bob{Uid(1001), Gid(1001), {}, {}};
  bob.name = "bob";
  const rpc::AssocMgrRows seen = ask(bob);
  ASSERT_EQ(seen.users.size(), 1u);
  EXPECT_EQ(seen.users[0].name, "bob");
  for (const AssociationUse& a : seen.associations) EXPECT_EQ(a.record.account, "other");
  EXPECT_TRUE(seen.qos[0].users.empty()) << "alice is hidden";

  // Without a limit on them, too, those are told that grow in priority by their age: not what runs, is held or begins later.
  EXPECT_EQ(all.qos[0].use.accruing, 0u);
  b.of("alice", 8);
  ASSERT_TRUE(b.update(b.of("alice", 8), "Priority", "0"));
  const rpc::AssocMgrRows later = ask(Caller::root());
  EXPECT_EQ(later.qos[0].use.accruing, 1u);
  EXPECT_EQ(later.qos[0].users[0].use.accruing, 1u);
  EXPECT_EQ(later.qos[0].accounts[0].use.accruing, 1u);
  for (const AssociationUse& a : later.associations)
    if (a.record.account == "team") {
      EXPECT_EQ(a.use.accruing, 1u);
    }
}

}  // namespace
}  // namespace muster::slurmctld
