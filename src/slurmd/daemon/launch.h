// Turns what the controller or srun asks for into what slurmstepd is told: users and groups looked up, environment, file names, CPUs and
// devices of this machine, cgroup limits.
#pragma once

#include <string>

#include "model/step_rpc.h"
#include "os/users.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// Errors: a user that does not exist here, an empty script.
Result<step_rpc::StepdLaunch> batch_launch(const Setup& setup, os::UserDirectory& users, const node_rpc::LaunchBatch& order);

// What a contained job has here from its start: a process of the user that sleeps, in a group that others may join. Errors: as above.
Result<step_rpc::StepdLaunch> external_launch(const Setup& setup, os::UserDirectory& users, const node_rpc::JobOnNode& job);

// `credential` was verified; `launch.node` is one of its nodes. Errors also: a --cpu-bind that cannot be carried out here.
Result<step_rpc::StepdLaunch> step_launch(const Setup& setup, os::UserDirectory& users, const rpc::StepCredential& credential,
                                          const rpc::LaunchStep& launch);

// Whether a step ends whose tasks have more memory than it was given (JobAcctGatherParams=OverMemoryKill).
bool kills_over_memory(const config::Config& config);

// "*** JOB 12 ON n1 CANCELLED AT 2026-01-31T12:00:00 DUE TO TIME LIMIT ***"; "" where there is nothing to say.
std::string end_message(JobId job, StepId step, const std::string& node, JobState state, Time time);

}  // namespace muster::slurmd
