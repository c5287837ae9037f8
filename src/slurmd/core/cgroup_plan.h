// What the groups of a job and a step may use, by cgroup.conf: memory and swap limits, CPUs, devices. Pure: shares and configuration →
// step_rpc::StepCgroup, which slurmstepd writes into the kernel's files. cgroup.conf(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/cgroup_conf.h"
#include "model/step_rpc.h"

namespace muster::slurmd {

struct MemoryPlan {
  uint64_t hard_bytes = 0, soft_bytes = 0, swap_bytes = 0;  // 0: no limit; swap: beyond hard
  bool limit_swap = false;
};
// Limits for a job with `allocated_mb` on a node of `node_mb` (RealMemory). 0 allocated: the site does not hand out memory; then the Max…
// percentages alone limit.
MemoryPlan memory_plan(const config::CgroupConf& conf, uint64_t allocated_mb, uint64_t node_mb);

// Files of the node's devices that a holder of `share` may not open: all that gres.conf names, except its own.
std::vector<std::string> denied_files(const std::vector<GresDevices>& node, const std::vector<GresShare>& share);

}  // namespace muster::slurmd
