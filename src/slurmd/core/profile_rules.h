// Which time series of a step are recorded: what --profile asks for under what the site gathers. srun(1) --profile, acct_gather.conf(5)
// ProfileHDF5Default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/profile_types.h"
#include "model/step_rpc.h"

namespace muster::slurmd {

struct ProfileRules {
  std::string directory;  // ProfileHDF5Dir; "": nothing is recorded here
  ProfileTypes defaults;
  bool gathers = false;          // JobAcctGatherType
  bool measures_energy = false;  // AcctGatherEnergyType
  uint32_t task_seconds = 0, energy_seconds = 0;
};
struct ProfileOrder {
  std::optional<step_rpc::StepProfile> profile;
  std::string note;  // what was asked for by name and is not recorded, for the step's stderr; "": nothing
};
// A profile is a request, not a requirement: what is not recorded is told, and the step runs.
ProfileOrder profile_order(const ProfileText& asked, const ProfileRules& rules);

}  // namespace muster::slurmd
