#include "slurmd/daemon/mpi_launch.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::slurmd {
namespace {

mpi_rpc::StepMpi with(const std::string& text) {
  std::vector<config::ConfigError> errors;
  std::vector<config::ConfigNotice> notices;
  config::SimpleConf conf = config::build_simple_conf(config::ConfFile::kMpi, config::parse_text(text, "mpi.conf").lines, errors, notices);
  EXPECT_TRUE(errors.empty());
  mpi_rpc::StepMpi out;
  apply_mpi_conf(conf, "12.0.n1", out);
  return out;
}

TEST(MpiConf, WithoutItsFileTheDefaultsHold) {
  mpi_rpc::StepMpi m = with("");
  EXPECT_EQ(m.timeout_seconds, 300u);
  EXPECT_FALSE(m.debug);
  EXPECT_FALSE(m.share_topology);
  EXPECT_TRUE(m.environment.empty());
  EXPECT_EQ(m.task_directory, "");
}

TEST(MpiConf, ItsKeysReachTheModule) {
  mpi_rpc::StepMpi m = with("PMIxTimeout=17\nPMIxDebug=1\nPMIxShareServerTopology=true\nPMIxEnv=A=1;B=two;\nPMIxCliTmpDirBase=/scratch\n");
  EXPECT_EQ(m.timeout_seconds, 17u);
  EXPECT_TRUE(m.debug);
  EXPECT_TRUE(m.share_topology);
  EXPECT_EQ(m.environment, (std::vector<std::string>{"A=1", "B=two"}));
  EXPECT_EQ(m.task_directory, "/scratch/pmix.12.0.n1");
}

}  // namespace
}  // namespace muster::slurmd
