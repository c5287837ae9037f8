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
  // Makes the cgroups of job and step and sets their limits. Where no cgroup can be had: an error if one is required, else the processes
  // are found through their tree.
  Result<> prepare(const step_rpc::StepdLaunch& launch);
  // Lowers the memory limits of both groups; those that are lower already stay. Nothing happens where there are no groups.
  Result<> limit_memory(const step_rpc::StepdMemory& limits);
  // The groups that a child is to join, for SpawnSpec::cgroup_procs_fds.
  const std::vector<int>& join_fds() const { return join_fds_; }
  // The same for a task, by its place in the launch, where tasks have groups of their own; the descriptors are open as long as `held`.
  Result<std::vector<int>> join_fds_of(size_t task, std::vector<os::Fd>& held) const;

  const os::Cgroup* group_of(size_t task) const { return task < tasks_.size() ? &tasks_[task] : nullptr; }  // null: it has none of its own

  // Processes of ours that do not belong to the step, and process groups that have a time limit of their own.
  struct Spared {
    std::vector<pid_t> processes, groups;
  };
  void signal_all(int signal, const Spared& spared = {});
  bool any_left() const;       // besides ourselves
  uint64_t oom_kills() const;  // so far
  void remove();               // the empty groups

 private:
  Result<> join(const os::Cgroup& group);
  void signal_others(int signal, const Spared& spared) const;
  Result<> divide(const os::Cgroups& groups, std::vector<std::string> levels, const step_rpc::StepdLaunch& launch);

  std::optional<os::Cgroup> cgroup_, job_group_;
  step_rpc::StepCgroup limits_;    // of the two
  std::vector<os::Cgroup> tasks_;  // none: all processes are in the step's
  std::vector<os::Fd> procs_;
  std::vector<int> join_fds_;
};

}  // namespace muster::slurmstepd
