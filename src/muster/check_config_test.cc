#include "muster/check_config.h"

#include <gtest/gtest.h>

namespace muster::front {
namespace {

constexpr const char* kConf = "ClusterName=gpu-cluster\nSlurmctldHost=controller-node\nGresTypes=gpu\nTopologyPlugin=topology/tree\n"
                              "NodeName=gpu-node-[001-004] Gres=gpu:8 CPUs=128 RealMemory=2048000 State=UNKNOWN\n"
                              "PartitionName=train Nodes=gpu-node-[001-004] Default=YES MaxTime=168:00:00 State=UP\n"
                              "PartitionName=debug  Nodes=gpu-node-001 MaxTime=02:00:00 MaxCPUsPerUser=8 State=UP\n";

// Every mistake of the articles at once, errors and warnings in the order of the files.
TEST(CheckConfig, TheArticlesFiles) {
  config::MemoryFiles files{{"etc/slurm.conf", kConf},
                            {"etc/gres.conf", "Name=gpu Type=a100_3g.20gb File=/dev/nvidia[0-7] Cores=[0-1]\n"
                                              "Name=gpu Type=a100_1g.5gb File=/dev/nvidia[0-7] Cores=[2-3]\n"},
                            {"etc/topology.conf", "SwitchName=spine1 Switches=leaf1:leaf2\nSwitchName=leaf1 Nodes=gpu-node-[001-002]\n"
                                                  "SwitchName=leaf2 Nodes=gpu-node-[003-004]\n"}};
  ConfigCheck check = check_files(files, "etc/slurm.conf");
  EXPECT_EQ(check.files, (std::vector<std::string>{"etc/slurm.conf", "etc/gres.conf", "etc/topology.conf"}));
  in_order(check.findings);
  EXPECT_EQ(to_text(check.findings),
            "etc/topology.conf:1: error: Switches: \"leaf1:leaf2\" is not a switch\n"
            "    did you mean leaf1,leaf2?\n"
            "etc/slurm.conf:7: warning: MaxCPUsPerUser: is a key of a QOS (MaxTRESPerUser=cpu=8), not of a partition "
            "line, and Slurm refuses it here; Muster holds each user to it in the partition debug\n"
            "    for both: sacctmgr add qos debug MaxTRESPerUser=cpu=8, and QOS=debug on this line\n"
            "etc/gres.conf:1: warning: Cores: takes numbers without brackets; read as 0-1\n"
            "    write Cores=0-1\n"
            "etc/gres.conf:2: warning: Cores: takes numbers without brackets; read as 2-3\n"
            "    write Cores=2-3\n"
            "etc/gres.conf:2: warning: File: /dev/nvidia0 is already given at etc/gres.conf:1, so it counts twice\n"
            "    MIG instances are devices of their own: AutoDetect=nvml finds them, or give each a line with "
            "MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-capN,/dev/nvidia-caps/nvidia-capM\n");
  EXPECT_EQ(summary(check.findings, check.files), "1 error, 4 warnings in etc/slurm.conf, etc/gres.conf, etc/topology.conf");
  EXPECT_TRUE(any_error(check.findings));
}

TEST(CheckConfig, NothingToSay) {
  config::MemoryFiles files{{"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=2\nPartitionName=p Nodes=n\n"}};
  ConfigCheck check = check_files(files, "/e/slurm.conf");
  EXPECT_TRUE(check.findings.empty()) << to_text(check.findings);
  EXPECT_EQ(summary(check.findings, check.files), "/e/slurm.conf: no findings");
  EXPECT_FALSE(any_error(check.findings));
}

// Keys and whole files that nothing acts on yet are named.
TEST(CheckConfig, WithoutEffect) {
  config::MemoryFiles files{{"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=2\nPartitionName=p Nodes=n\n"
                                              "CheckpointType=none\n"},
                            {"/e/job_submit.lua", "return 0\n"},
                            {"/e/slurmdbd.conf", "DbdHost=d\nStorageTpye=accounting_storage/mysql\n"}};
  ConfigCheck check = check_files(files, "/e/slurm.conf");
  const std::string text = to_text(check.findings);
  EXPECT_NE(text.find("/e/slurm.conf:5: warning: CheckpointType: belongs to older releases and has no effect\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("/e/job_submit.lua: warning: is not read, this is not there yet: job_submit/lua\n"), std::string::npos) << text;
  EXPECT_NE(text.find("/e/slurmdbd.conf:2: error: StorageTpye: is not a key of slurmdbd.conf\n"
                      "    did you mean StorageType?\n"),
            std::string::npos)
      << text;
}

TEST(CheckConfig, NoFile) {
  config::MemoryFiles files;
  ConfigCheck check = check_files(files, "/e/slurm.conf");
  ASSERT_EQ(check.findings.size(), 1u);
  EXPECT_TRUE(to_text(check.findings).starts_with("/e/slurm.conf: error: cannot be read\n"));
}

TEST(CheckConfig, AsJson) {
  std::string out;
  std::vector<Finding> findings = {{Level::kError, "a", 3, "Key", "is wrong", ""}};
  std::vector<std::string> files = {"a"};
  to_tree(findings, files, *fields::make_tree_sink(fields::TreeForm::kJson, true, out));
  EXPECT_EQ(out, "{\"files\":[\"a\"],\"findings\":[{\"level\":\"error\",\"file\":\"a\",\"line\":3,\"subject\":\"Key\","
                 "\"message\":\"is wrong\",\"hint\":\"\"}],\"errors\":1,\"warnings\":0}");
}

}  // namespace
}  // namespace muster::front
