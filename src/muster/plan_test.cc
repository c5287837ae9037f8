#include "muster/plan.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::front {
namespace {

TEST(Plan, OptionsAndTheirLimits) {
  std::vector<std::string> a = {"--nodes", "2", "--gpus-per-node=4", "--gpu-type=a100_3g.20gb", "--memory=2T", "--cpus=8"};
  Result<Plan> p = parse_plan(Action::kUp, a);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->action, Action::kUp);
  EXPECT_EQ(p->nodes, 2u);
  EXPECT_EQ(p->memory_mb, 2u << 20);
  EXPECT_EQ(p->gpu_type, "a100_3g.20gb");
  EXPECT_TRUE(p->accounting);
  a = {"--no-accounting", "--nodes=2"};
  p = parse_plan(Action::kUp, a);
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->accounting);
}

TEST(Plan, WrongOnesNameTheRule) {
  auto error = [](std::vector<std::string> a) { return parse_plan(Action::kUp, a).error(); };
  EXPECT_EQ(error({"--nodes=0"}).message(), "--nodes=0: expected a number from 1 to 64");
  EXPECT_EQ(error({"--node=2"}).hint, "did you mean --nodes?");
  EXPECT_EQ(error({"--nosuch"}).message(), "unrecognized option '--nosuch'");
  EXPECT_EQ(error({"--state"}).message(), "option '--state' requires an argument");
  EXPECT_EQ(error({"--gpu-type=a b"}).message(), "--gpu-type=a b: expected letters, digits, '_', '.' and '-'");
  EXPECT_EQ(error({"main"}).message(), "too many words: 'main'");
  EXPECT_EQ(parse_plan(Action::kLogs, std::vector<std::string>{"n1"})->log_name, "n1");
}

// The configuration written is one that the daemons accept, without a single finding.
TEST(Plan, TheConfigurationLoads) {
  for (uint32_t nodes : {1u, 4u, 64u})
    for (uint32_t gpus : {0u, 8u}) {
      Plan plan;
      plan.nodes = nodes;
      plan.gpus_per_node = gpus;
      config::MemoryFiles files{{"/c/slurm.conf", slurm_conf(plan, {"/c", "host", "root", 20000})}, {"/c/gres.conf", gres_conf(plan)}};
      auto loaded = config::load_config(files, "/c/slurm.conf");
      ASSERT_TRUE(loaded) << config::to_text(loaded.error());
      EXPECT_TRUE(loaded->notices.empty()) << config::to_text(loaded->notices);
      EXPECT_EQ(loaded->config.nodes.size(), nodes);
      // Nobody but this host reaches it.
      for (const char* word : {"NoCtldInAddrAny", "NoInAddrAny"}) EXPECT_TRUE(loaded->config.communication_parameters.has(word));
      EXPECT_EQ(loaded->config.slurmctld_hosts.front().address, "127.0.0.1");
      config::MemoryFiles dbd{{"/c/slurmdbd.conf", slurmdbd_conf(plan, {"/c", "host", "root", 20000})}};
      auto accounting = config::load_simple(dbd, "/c/slurmdbd.conf", config::ConfFile::kSlurmdbd);
      ASSERT_TRUE(accounting) << config::to_text(accounting.error());
      EXPECT_TRUE(accounting->notices.empty()) << config::to_text(accounting->notices);
      EXPECT_EQ(accounting->conf.number("DbdPort"), loaded->config.accounting_storage_port);
    }
}

TEST(Plan, WhatItsUserAddedIsKept) {
  const std::string written = slurm_conf(Plan{}, {"/c", "host", "root", 20000});
  EXPECT_EQ(lines_of_the_site(written), "");
  EXPECT_EQ(lines_of_the_site(written + "PriorityType=priority/multifactor\n\n# mine\n"), "PriorityType=priority/multifactor\n\n# mine\n");
  EXPECT_EQ(lines_of_the_site("ClusterName=other\n"), "");
  EXPECT_EQ(lines_of_the_site("# What stands below this line is yours: muster up keeps it.\r\nKillWait=9\r\n"), "KillWait=9\r\n");
}

}  // namespace
}  // namespace muster::front
