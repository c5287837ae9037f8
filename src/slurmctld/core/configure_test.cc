// ReconfigFlags: what scontrol changed and a new reading of the files leaves alone. slurm.conf(5).
#include <gtest/gtest.h>

#include "config/runtime.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

Result<rpc::Messages> partition(Bench& b, const std::string& name, std::vector<rpc::KeyValue> changes, bool create = false) {
  rpc::UpdatePartition c;
  c.name = name;
  c.create = create;
  c.changes = std::move(changes);
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(Caller::root(), c); });
  EXPECT_TRUE(r) << (r ? "" : r.error().message());
  return r;
}
void reconfigure(Bench& b) {
  b.turn([&] { b.core.configure(b.settings); });
}
const Partition* find(const Bench& b, const char* name) { return b.core.cluster().partition(name); }

void change_all(Bench& b) {
  partition(b, "main", {{"State", "=", "DOWN"}, {"MaxTime", "=", "5"}, {"AllowGroups", "+=", "lab"}, {"Nodes", "=", "n[0-1]"}});
  partition(b, "main", {{"MaxTime", "=", "7"}});
  partition(b, "extra", {{"Nodes", "=", "n3"}, {"Default", "=", "YES"}}, true);
}

TEST(Reconfigure, FilesAloneCountWithoutFlags) {
  Bench b;
  change_all(b);
  reconfigure(b);
  EXPECT_EQ(find(b, "main")->state, PartitionState::kUp);
  EXPECT_EQ(find(b, "main")->max_time_min, 60u);
  EXPECT_TRUE(find(b, "main")->is_default);
  EXPECT_FALSE(find(b, "extra"));
  b.expect_replay_equal();
}

// Else the job that ran on the old node is told to have run on the new one.
TEST(Reconfigure, ANodeInPlaceOfAnotherHasANumberOfItsOwn) {
  Bench b;
  const JobId job = b.submit([](JobRequest& r) { r.required_nodes = "n3"; });
  b.plan();
  b.started(job);
  b.ends(job);
  for (const char* nodes : {"n[0-2]", "n[0-2],m1"}) {
    config::MemoryFiles files{{"/etc/slurm/slurm.conf", "ClusterName=c\nSlurmctldHost=ctl\nNodeName=" + std::string(nodes) +
                                                            " CPUs=4 RealMemory=4000\nPartitionName=main Nodes=ALL\n"}};
    const auto other = std::make_shared<const config::LoadedConfig>(config::load_config(files, "/etc/slurm/slurm.conf").value());
    b.turn([&] { b.core.configure(make_settings(other, Uid(64030), false)); });
  }
  const Node* node = b.core.cluster().node("m1");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->id, NodeId(4));
  EXPECT_EQ(b.get(job).allocation->nodes[0].node, NodeId(3));
  b.expect_replay_equal();
}

TEST(Reconfigure, KeepPartStateKeepsTheState) {
  Bench b("ReconfigFlags=KeepPartState\n");
  change_all(b);
  reconfigure(b);
  EXPECT_EQ(find(b, "main")->state, PartitionState::kDown);
  EXPECT_EQ(find(b, "main")->max_time_min, 60u);
  EXPECT_EQ(find(b, "main")->nodes.count(), 4u);
  EXPECT_FALSE(find(b, "extra"));
  b.expect_replay_equal();
}

TEST(Reconfigure, KeepPartInfoKeepsAllOfItAgainAndAgain) {
  Bench b("ReconfigFlags=KeepPartInfo\n");
  change_all(b);
  for (int i = 0; i < 2; ++i) {
    reconfigure(b);
    const Partition* p = find(b, "main");
    EXPECT_EQ(p->state, PartitionState::kDown);
    EXPECT_EQ(p->max_time_min, 7u);
    EXPECT_EQ(p->allow_groups, std::vector<std::string>{"lab"});
    EXPECT_EQ(p->nodes.count(), 2u);
    ASSERT_TRUE(find(b, "extra"));
    EXPECT_TRUE(find(b, "extra")->is_default);
    EXPECT_FALSE(p->is_default);
  }
  b.expect_replay_equal();
}

TEST(Reconfigure, KeepPowerSaveSettings) {
  Settings now = settings_of("SuspendExcNodes=n0\n"), plain = settings_of("SuspendExcNodes=n1\n"),
           keeps = settings_of("SuspendExcNodes=n1\nReconfigFlags=KeepPowerSaveSettings\n");
  auto changed = std::make_shared<config::LoadedConfig>(*now.loaded);
  ASSERT_TRUE(config::set_value(changed->config, "SuspendExcNodes", "=", "n2"));
  EXPECT_EQ(keep_power_settings(*changed, plain.loaded)->config.suspend_exc_nodes, "n1");
  EXPECT_EQ(keep_power_settings(*changed, keeps.loaded)->config.suspend_exc_nodes, "n2");
}

}  // namespace
}  // namespace muster::slurmctld
