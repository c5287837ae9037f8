// The place of slurmstepd and of jobs in the cgroup v2 tree of a machine that systemd runs: a scope that is delegated to us. systemd leaves
// alone what is below the scope, and neither a stop nor a start of slurmd's own unit touches it.
// cgroup.conf(5) CgroupSlice, SystemdTimeout; cgroup_v2 guide.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster::os {

struct StepScope {
  std::string mountpoint = "/sys/fs/cgroup";
  std::string slice = "system.slice";
  std::string name = "slurmstepd.scope";
  std::string keeper;  // a program that does nothing for ever when started as `keeper infinity`: an empty scope ends
  Duration timeout = seconds(1);
};

// Below the mount point: "user-1.slice" is "user.slice/user-1.slice".
std::string slice_path(std::string_view slice);
std::string scope_path(const StepScope& scope);
// Has systemd make the scope unless it exists; true where it did not. Errors: what systemd-run said; kTimedOut.
Result<bool> open_step_scope(const StepScope& scope);

// The group in the scope where the keeper and each slurmstepd are; those of jobs are beside it.
inline constexpr char kStepDaemonsGroup[] = "system";

}  // namespace muster::os
