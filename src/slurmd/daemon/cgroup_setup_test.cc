#include "slurmd/daemon/cgroup_setup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/load.h"
#include "os/files.h"

namespace muster::slurmd {
namespace {

// Of a machine "m1"; version 1, so that no systemd is asked.
Setup setup_of(const std::string& node, const std::string& node_line, const std::string& cgroup_conf) {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf", "ClusterName=c\nSlurmctldHost=m1\nProctrackType=proctrack/cgroup\nNodeName=" + node +
                                                          " CPUs=1 " + node_line + "\nPartitionName=p Nodes=" + node + "\n"},
                            {"/etc/slurm/cgroup.conf", "CgroupPlugin=cgroup/v1\n" + cgroup_conf}};
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  Setup s;
  if (!loaded) {
    ADD_FAILURE() << config::to_text(loaded.error());
    return s;
  }
  s.loaded = std::make_shared<const config::LoadedConfig>(std::move(*loaded));
  s.node = node;
  s.host = "m1";
  return s;
}

class CgroupSetup : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has groups made";
    os::LogOptions o;
    o.file = dir_.path() + "/log";
    log_ = std::move(*os::Log::open(o));
  }
  std::string prefix_of(const std::string& node, const std::string& node_line) {
    auto s = setup_of(node, node_line, "");
    EXPECT_TRUE(prepare_cgroups(s, *log_));
    return s.groups ? s.groups->prefix : "(none)";
  }
  os::TempDir dir_ = *os::TempDir::create("cs", "/tmp");
  std::unique_ptr<os::Log> log_;
};

TEST_F(CgroupSetup, SeveralSlurmdOnAMachineHaveTheirGroupsApart) {
  EXPECT_EQ(prefix_of("m1", ""), "slurm");
  EXPECT_EQ(prefix_of("n1", "NodeHostname=m1"), "slurm_n1");
  EXPECT_EQ(prefix_of("m1", "Port=7003"), "slurm_7003");
  EXPECT_EQ(prefix_of("n1", "NodeHostname=m1 Port=7003"), "slurm_n1_7003");
}

TEST_F(CgroupSetup, AReconfigurationLeavesTheGroupsWhereJobsHaveThem) {
  auto before = setup_of("m1", "", "CgroupMountpoint=/a\n"), fresh = setup_of("m1", "", "CgroupMountpoint=/b\n");
  ASSERT_TRUE(prepare_cgroups(before, *log_));
  ASSERT_TRUE(keep_cgroups(before, fresh, *log_));
  ASSERT_TRUE(fresh.groups);
  EXPECT_EQ(fresh.groups->mountpoint, "/a");
}

TEST_F(CgroupSetup, AReconfigurationThatWantsGroupsFirstPreparesThem) {
  auto before = setup_of("m1", "", ""), fresh = setup_of("m1", "", "CgroupMountpoint=/b\n");
  ASSERT_TRUE(keep_cgroups(before, fresh, *log_));  // `before` was prepared without any
  ASSERT_TRUE(fresh.groups);
  EXPECT_EQ(fresh.groups->mountpoint, "/b");
}

}  // namespace
}  // namespace muster::slurmd
