// What is left of a step that SIGKILL did not end, for the node's reason and the log. slurm.conf(5) UnkillableStepTimeout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "os/log.h"
#include "os/node/cgroups.h"
#include "os/process_hold.h"

namespace muster::slurmd {

// The processes of its group, and what slurmstepd and those below it are where there are no groups; those that cannot be interrupted first.
// At most kMostSurvivors.
constexpr size_t kMostSurvivors = 8;
std::vector<os::ProcessHold> survivors_of(const std::optional<os::CgroupOptions>& groups, const step_rpc::StepdReport& step);

// Writes each of them to the log. The first one for the node's reason: "nfs-cat (812) of step 7.0 cannot be interrupted, in
// nfs_wait_bit_killable"; "": there are none.
std::string tell_survivors(os::Log& log, const std::string& step, const std::vector<os::ProcessHold>& survivors);

}  // namespace muster::slurmd
