// StepProfiles: whether time series of steps are recorded, where, and of what when a job does not say. slurm.conf(5)
// AcctGatherProfileType, acct_gather.conf(5) ProfileHDF5Dir, ProfileHDF5Default.
#pragma once

#include <string>
#include <vector>

#include "model/profile_types.h"

namespace muster::config {

struct ConfigError;
using ConfigNotice = ConfigError;
struct LoadedConfig;

struct StepProfiles {
  std::string directory;  // ProfileHDF5Dir; "": nothing is recorded
  ProfileTypes defaults;  // ProfileHDF5Default
  bool on() const { return !directory.empty(); }
};

// Off also where the keys ask for what is not there, which the notices of the configuration say.
StepProfiles step_profiles(const LoadedConfig& loaded);

// Tells what is missing or wrong of it.
void check_step_profiles(const LoadedConfig& loaded, std::vector<ConfigNotice>& notices);

}  // namespace muster::config
