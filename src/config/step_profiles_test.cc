#include "config/step_profiles.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

ConfigReport read(const std::string& type, const std::string& side) {
  MemoryFiles files{
      {"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n\nAcctGatherProfileType=acct_gather_profile/" + type + "\n"},
      {"/e/acct_gather.conf", side}};
  return check_config(files, "/e/slurm.conf");
}
std::string told(const std::string& type, const std::string& side) { return to_text(read(type, side).loaded.notices); }

TEST(StepProfiles, AreRecordedWhereBothFilesSaySo) {
  const ConfigReport report = read("hdf5", "ProfileHDF5Dir=/shared/profiles/\nProfileHDF5Default=Task,Energy\n");
  EXPECT_EQ(to_text(report.errors), "");
  EXPECT_EQ(to_text(report.loaded.notices), "");
  const StepProfiles profiles = step_profiles(report.loaded);
  EXPECT_EQ(profiles.directory, "/shared/profiles");
  EXPECT_TRUE(profiles.defaults.task && profiles.defaults.energy && !profiles.defaults.network);
  EXPECT_FALSE(step_profiles(read("none", "ProfileHDF5Dir=/shared/profiles\n").loaded).on());
  EXPECT_FALSE(step_profiles(read("hdf5", "ProfileHDF5Dir=/p\n").loaded).defaults.any());  // None is the default
}

TEST(StepProfiles, WhatIsMissingIsTold) {
  EXPECT_NE(told("hdf5", "").find("without ProfileHDF5Dir"), std::string::npos);
  EXPECT_FALSE(step_profiles(read("hdf5", "").loaded).on());
  EXPECT_NE(told("influxdb", "").find("acct_gather_profile/influxdb is not there yet"), std::string::npos);
  const std::string wrong = told("hdf5", "ProfileHDF5Dir=/p\nProfileHDF5Default=Disk\n");
  EXPECT_NE(wrong.find("acct_gather.conf:2: ProfileHDF5Default: \"Disk\" is no kind of profile"), std::string::npos) << wrong;
}

TEST(StepProfiles, KeysOfOtherPluginsAreNotThereYet) {
  EXPECT_NE(told("hdf5", "ProfileHDF5Dir=/p\nEnergyIPMIFrequency=30\n").find("EnergyIPMIFrequency: accepted without effect"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::config
