#include "config/write_config.h"

#include <gtest/gtest.h>

#include "config/runtime.h"

namespace muster::config {
namespace {

LoadedConfig load(const std::string& text) {
  MemoryFiles files{{"/etc/slurm/slurm.conf", text}};
  auto loaded = load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(loaded) << (loaded ? "" : to_text(loaded.error()));
  return loaded ? std::move(*loaded) : LoadedConfig();
}

constexpr const char* kText =
    "ClusterName=c\nSlurmctldHost=head(10.0.0.1)\nSlurmctldHost=spare\nAuthType=auth/slurm\nGresTypes=gpu\n"
    "SlurmctldDebug=debug\nSchedulerParameters=defer,bf_window=2880\nLicenses=matlab:10,ansys\nKillWait=7\n"
    "NodeName=DEFAULT RealMemory=1000\n"
    "NodeName=n[1-4] NodeAddr=10.0.1.[1-4] Port=[7001-7004] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:2 Weight=3\n"
    "NodeName=m[1-2] CPUs=8 State=CLOUD Features=fast,big\n"
    "DownNodes=n[3-4] State=DRAIN Reason=\"bad disk\"\n"
    "NodeSet=both Nodes=n[1-2],m1\n"
    "PartitionName=p Nodes=both Default=YES MaxTime=90 DefMemPerCPU=100 OverSubscribe=FORCE:2 AllowGroups=a,b\n"
    "PartitionName=q Nodes=ALL State=DRAIN Exclusive=USER PriorityTier=7 DefaultTime=30 Hidden=YES\n";

TEST(WriteConfig, ReadAgainItIsTheSame) {
  LoadedConfig before = load(kText);
  std::string text = write_config(before, Time{});
  LoadedConfig after = load(text);
  for (const ConfigChange& c : diff(before.config, after.config))
    ADD_FAILURE() << c.key << ": " << c.before << " -> " << c.after << "\n" << text;
  ASSERT_EQ(after.config.nodes.size(), 6u);
  EXPECT_EQ(to_node_spec(after.config.nodes[1]), to_node_spec(before.config.nodes[1]));
  EXPECT_EQ(after.config.nodes[2].reason(), "bad disk");
  EXPECT_EQ(after.config.partitions[0].spec, before.config.partitions[0].spec);
  EXPECT_EQ(after.config.partitions[1].spec, before.config.partitions[1].spec);
}

TEST(WriteConfig, PasswordsAreForThoseWhoMayReadTheFile) {
  const LoadedConfig c = load(std::string(kText) + "AccountingStoragePass=s3cret\nJobCompPass=s4cret\n");
  EXPECT_NE(write_config(c, Time{}).find("AccountingStoragePass=s3cret"), std::string::npos);
  const std::string text = write_config(c, Time{}, false);
  EXPECT_EQ(text.find("cret\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# AccountingStoragePass is set"), std::string::npos);
  load(text);
}

TEST(Runtime, AKeyIsCheckedByItsRowAndPrinted) {
  Config c = load(kText).config;
  ASSERT_TRUE(set_value(c, "slurmctlddebug", "=", "verbose"));
  EXPECT_EQ(c.slurmctld_debug, 4);
  EXPECT_EQ(c.find_value("SlurmctldDebug")->text, "verbose");
  ASSERT_TRUE(set_value(c, "DebugFlags", "+=", "Backfill"));
  ASSERT_TRUE(set_value(c, "DebugFlags", "+=", "Gres"));
  ASSERT_TRUE(set_value(c, "DebugFlags", "-=", "Backfill"));
  EXPECT_EQ(c.debug_flags, std::vector<std::string>{"Gres"});
  ASSERT_TRUE(set_value(c, "DebugFlags", "-=", "Gres"));
  EXPECT_TRUE(c.debug_flags.empty());
  EXPECT_FALSE(set_value(c, "SlurmctldDebug", "=", "loud"));
  EXPECT_FALSE(set_value(c, "NoSuchKey", "=", "1"));
}

TEST(Runtime, ANodeLineIsReadAsInTheFile) {
  Config c = load(kText).config;
  auto nodes = parse_node_line(c, "NodeName=x[1-2] CPUs=4 RealMemory=\"2G\" State=CLOUD Gres=gpu:1");
  ASSERT_TRUE(nodes) << nodes.error().message();
  ASSERT_EQ(nodes->size(), 2u);
  EXPECT_EQ((*nodes)[1].name, "x2");
  EXPECT_EQ((*nodes)[0].line->real_memory_mb, 2048u);
  EXPECT_FALSE(parse_node_line(c, "NodeName=x CPUs=many"));
  EXPECT_FALSE(parse_node_line(c, "NodeName=x Gres=tape:1"));
}

}  // namespace
}  // namespace muster::config
