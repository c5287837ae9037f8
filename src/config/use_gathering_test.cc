#include "config/use_gathering.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

ConfigReport read(const std::string& lines) {
  MemoryFiles files{{"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n\n" + lines}};
  return check_config(files, "/e/slurm.conf");
}
UseGathering chosen(const std::string& lines) {
  const ConfigReport report = read(lines);
  EXPECT_EQ(to_text(report.errors), "");
  EXPECT_EQ(to_text(report.loaded.notices), "");
  return use_gathering(report.loaded.config);
}

TEST(UseGathering, GpusAreGatheredWhereTheyAreAccounted) {
  const std::string on = "JobAcctGatherType=jobacct_gather/linux\n";
  EXPECT_FALSE(chosen(on).gpus());
  EXPECT_FALSE(chosen("AccountingStorageTRES=gres/gpu\nGresTypes=gpu\n").gpus());
  const UseGathering both = chosen(on + "AccountingStorageTRES=gres/gpu\nGresTypes=gpu\n");
  EXPECT_TRUE(both.gpu_util && both.gpu_memory);
  const UseGathering one = chosen(on + "AccountingStorageTRES=gres/gpumem\nGresTypes=gpu\n");
  EXPECT_TRUE(!one.gpu_util && one.gpu_memory);
  EXPECT_FALSE(chosen(on + "AccountingStorageTRES=gres/gpu\nGresTypes=gpu\nJobAcctGatherParams=DisableGPUAcct\n").gpus());
}

TEST(UseGathering, Energy) {
  EXPECT_NE(to_text(read("AcctGatherNodeFreq=30\n").loaded.notices).find("AcctGatherNodeFreq: nothing is sampled"), std::string::npos);
  EXPECT_EQ(chosen("AcctGatherEnergyType=acct_gather_energy/rapl\nAcctGatherNodeFreq=30\n"),
            (UseGathering{false, false, EnergySource::kRapl, 30}));
  EXPECT_EQ(chosen("AcctGatherEnergyType=acct_gather_energy/gpu\n").energy, EnergySource::kGpu);
  EXPECT_EQ(chosen("AcctGatherEnergyType=acct_gather_energy/none\n").energy, EnergySource::kNone);
}

TEST(UseGathering, SourcesThatAreNotThereAreTold) {
  for (const char* source : {"ipmi", "pm_counters", "xcc"}) {
    const ConfigReport report = read("AcctGatherEnergyType=acct_gather_energy/" + std::string(source) + "\nAcctGatherNodeFreq=5\n");
    EXPECT_EQ(to_text(report.errors), "");
    const std::string told = to_text(report.loaded.notices);
    EXPECT_NE(told.find("AcctGatherEnergyType: acct_gather_energy/" + std::string(source)), told.npos) << told;
    EXPECT_NE(told.find("no energy is gathered"), told.npos) << told;
    EXPECT_EQ(use_gathering(report.loaded.config), UseGathering{});
  }
  EXPECT_NE(to_text(read("AcctGatherEnergyType=acct_gather_energy/sun\n").loaded.notices).find("AcctGatherEnergyType"), std::string::npos);
}

}  // namespace
}  // namespace muster::config
