#include "cli/common/client_conf.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

ClientConf scan(config::MemoryFiles files) {
  Result<ClientConf> conf = scan_client_conf(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(conf) << conf.error().message();
  return conf ? *conf : ClientConf{};
}

TEST(ClientConf, FindsTheKeysOfACommandWhateverTheirPlaceAndCase) {
  ClientConf c = scan(
      {{"/etc/slurm/slurm.conf", "# a comment with SlurmctldPort=1\n"
                                 "NodeName=n[1-10000] SlurmctldPort=2 CPUs=4\n"
                                 "slurmctldhost=head1(10.0.0.1)\nSlurmctldHost = head2\n"
                                 "ClusterName=Alpha SLURMCTLDPORT=7001-7004   # first of a range\n"
                                 "AuthInfo=ttl=60,socket=/run/m.sock\n"
                                 "SchedulerParameters=\"max_script_size=100, defer\"\r\n"
                                 "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db AccountingStoragePort=6900\n"
                                 "MessageTimeout=33\nTreeWidth=8\n"}});
  EXPECT_EQ(c.cluster_name, "alpha");
  ASSERT_EQ(c.controllers.size(), 2u);
  EXPECT_EQ(c.controllers[0].name, "head1");
  EXPECT_EQ(c.controllers[0].address, "10.0.0.1");
  EXPECT_EQ(c.controllers[1].address, "head2");
  EXPECT_EQ(c.slurmctld_port, 7001);
  EXPECT_EQ(c.auth_socket, "/run/m.sock");
  EXPECT_EQ(c.scheduler_parameters, "max_script_size=100, defer");
  EXPECT_EQ(c.message_timeout_seconds, 33u);
  EXPECT_EQ(c.tree_width, 8u);
  EXPECT_TRUE(c.accounting_dbd);
  EXPECT_EQ(c.accounting_host, "db");
  EXPECT_EQ(c.accounting_port, 6900);
}

TEST(ClientConf, ContinuationLinesBelongToTheirRecord) {
  ClientConf c = scan({{"/etc/slurm/slurm.conf", "NodeName=n1 \\\nSlurmctldPort=9\nSlurmctldHost=h\nAuthType=\\\nauth/slurm\n"}});
  EXPECT_EQ(c.slurmctld_port, 6817);
  EXPECT_EQ(c.tree_width, 16u);
  EXPECT_EQ(c.auth_type, "auth/slurm");
}

TEST(ClientConf, FollowsIncludesAndKnowsTheClusterInTheirNames) {
  ClientConf c = scan({{"/etc/slurm/slurm.conf", "ClusterName=beta\nInclude %c.conf\nInclude /other/x.conf\n"},
                       {"/etc/slurm/beta.conf", "SlurmctldHost=h\n"},
                       {"/other/x.conf", "SlurmctldPort=7777\n"}});
  EXPECT_EQ(c.controllers.at(0).name, "h");
  EXPECT_EQ(c.slurmctld_port, 7777);
}

TEST(ClientConf, AnIncludeIsBesideTheFileThatIncludes) {
  ClientConf c = scan({{"/etc/slurm/slurm.conf", "ClusterName=a\nInclude shared/common.conf\n"},
                       {"/etc/slurm/shared/common.conf", "Include hosts.conf\n"},
                       {"/etc/slurm/shared/hosts.conf", "SlurmctldHost=h\n"}});
  EXPECT_EQ(c.controllers.at(0).name, "h");
}

TEST(ClientConf, ControllersByOlderKeys) {
  ClientConf c = scan({{"/etc/slurm/slurm.conf", "\xEF\xBB\xBF"
                                                 "ControlAddr=10.0.0.1\nControlMachine=h\nBackupController=b\nClusterName=a\n"}});
  ASSERT_EQ(c.controllers.size(), 2u);
  EXPECT_EQ(c.controllers[0].name + " " + c.controllers[0].address, "h 10.0.0.1");
  EXPECT_EQ(c.controllers[1].address, "b");
  c = scan({{"/etc/slurm/slurm.conf", "ControlMachine=old\nSlurmctldHost=new\n"}});
  ASSERT_EQ(c.controllers.size(), 1u);
  EXPECT_EQ(c.controllers[0].name, "new");
}

TEST(ClientConf, WhatWouldLeadAstrayIsAnError) {
  config::MemoryFiles none{};
  EXPECT_EQ(scan_client_conf(none, "/x").error().code, Errc::kConfig);
  config::MemoryFiles loop{{"/x", "Include /x\n"}};
  EXPECT_NE(scan_client_conf(loop, "/x").error().message().find("16 deep"), std::string_view::npos);
  config::MemoryFiles port{{"/x", "SlurmctldHost=h\nSlurmctldPort=70000\n"}};
  EXPECT_EQ(scan_client_conf(port, "/x").error().message(), "SlurmctldPort=70000 is not a port");
  config::MemoryFiles nobody{{"/x", "ClusterName=a\n"}};
  EXPECT_EQ(scan_client_conf(nobody, "/x").error().message(), "/x: no SlurmctldHost is named");
}

TEST(ClientConf, WckeysAreTrackedWhereTheyAreEnforced) {
  const auto tracks = [](const std::string& lines) {
    config::MemoryFiles files{{"/etc/slurm.conf", "ClusterName=c\nSlurmctldHost=h\n" + lines}};
    auto conf = scan_client_conf(files, "/etc/slurm.conf");
    return conf && conf->tracks_wckeys();
  };
  EXPECT_FALSE(tracks(""));
  EXPECT_TRUE(tracks("TrackWCKey=yes\n"));
  EXPECT_TRUE(tracks("AccountingStorageEnforce=limits,WCKeys\nTrackWCKey=no\n"));
  EXPECT_FALSE(tracks("AccountingStorageEnforce=limits\n"));
}

TEST(Clusters, OnlyOurOwn) {
  ClientConf c;
  c.cluster_name = "alpha";
  EXPECT_TRUE(check_clusters(c, ""));
  EXPECT_TRUE(check_clusters(c, "Alpha"));
  EXPECT_TRUE(check_clusters(c, "all"));
  EXPECT_EQ(check_clusters(c, "alpha,beta").error().code, Errc::kInvalidClusterName);
}

TEST(ClientConf, AnyBytesAreSafe) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>(i * 37 % 251));
  for (const char* end : {"\\", "\"", "Include", "=", "SlurmctldHost", "SlurmctldHost=\"", "Include \""}) {
    config::MemoryFiles files{{"/x", bytes + "\n" + end}};
    static_cast<void>(scan_client_conf(files, "/x"));
  }
}

}  // namespace
}  // namespace muster::cli
