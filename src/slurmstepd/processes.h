// StepProcesses: the processes of the step on this node, held by a cgroup where there is one, else found by
// descent, session and environment (os/process_tree.h; slurmstepd is their subreaper). Knows nothing of tasks
// or messages.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/step_rpc.h"
#include "os/node/cgroups.h"

namespace muster::slurmstepd {

class StepProcesses {
 public:
  // Makes the cgroups of job and step and sets their limits. Without a cgroup here: an error if it is
  // required, else tree.
  Result<> prepare(const step_rpc::StepdLaunch& launch);
  // For SpawnSpec::cgroup_procs_fds.
  const std::vector<int>& join_fds() const { return join_fds_; }

  void signal_all(int signal);
  bool any_left() const;       // besides ourselves
  uint64_t oom_kills() const;  // so far
  void remove();               // the empty groups

 private:
  std::optional<os::Cgroup> cgroup_;
  std::vector<os::Fd> procs_;
  std::vector<int> join_fds_;
};

}  // namespace muster::slurmstepd
