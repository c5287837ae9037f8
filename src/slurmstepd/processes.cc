#include "slurmstepd/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "os/process_tree.h"

namespace muster::slurmstepd {
namespace {

std::string step_name(StepId step) {
  if (step == kBatchStep) return "step_batch";
  if (step == kExternStep) return "step_extern";
  if (step == kInteractiveStep) return "step_interactive";
  return "step_" + std::to_string(step.value);
}

Result<> limit_memory(os::Cgroup& group, uint64_t hard, uint64_t soft, uint64_t swap,
                      const step_rpc::StepCgroup& c) {
  if (!hard) return {};
  os::MemoryLimits m;
  m.hard_bytes = hard;
  if (soft) m.soft_bytes = soft;
  if (c.limit_swap) m.ram_and_swap_bytes = hard + swap;
  if (c.swappiness >= 0) m.swappiness = static_cast<uint32_t>(c.swappiness);
  return group.set_memory(m);
}

Result<> constrain(os::Cgroup& step, os::Cgroup& job, const step_rpc::StepCgroup& c) {
  MUSTER_TRY_VOID(limit_memory(job, c.job_memory_bytes, c.job_soft_bytes, c.job_swap_bytes, c));
  MUSTER_TRY_VOID(limit_memory(step, c.step_memory_bytes, c.step_soft_bytes, c.step_swap_bytes, c));
  if (c.limit_cpus) {
    if (c.job_os_cpus.any()) MUSTER_TRY_VOID(job.set_cpus(c.job_os_cpus));
    MUSTER_TRY_VOID(step.set_cpus(c.os_cpus, c.numa_nodes));
  }
  if (!c.limit_devices) return {};
  std::vector<os::DeviceRule> denied;
  for (const std::string& file : c.denied_devices)
    if (auto rule = os::device_rule(file)) denied.push_back(*rule);  // a file that is not there needs no door
  return step.deny_devices(denied);
}

}  // namespace

Result<> StepProcesses::prepare(const step_rpc::StepdLaunch& launch) {
  if (launch.cgroup.empty()) return {};
  const step_rpc::StepCgroup& c = launch.cgroup.front();
  os::CgroupOptions options;
  options.mountpoint = c.mountpoint;
  options.prefix = c.prefix;
  if (c.version == 1) options.version = os::CgroupVersion::kV1;
  if (c.version == 2) options.version = os::CgroupVersion::kV2;
  MUSTER_TRY(groups, os::Cgroups::open(options));
  if (groups.support().version == os::CgroupVersion::kNone) {
    if (!c.required) return {};
    return fail(Errc::kUnsupported,
                "ProctrackType=proctrack/cgroup: no cgroup can be used here: " + groups.support().reason);
  }
  const std::string job = "job_" + std::to_string(launch.job.value);
  MUSTER_TRY(job_group, groups.create({job}));
  MUSTER_TRY(group, groups.create({job, step_name(launch.step)}));
  if (auto ok = constrain(group, job_group, c); !ok) return ok;
  MUSTER_TRY(procs, group.open_procs());
  procs_ = std::move(procs);
  for (const os::Fd& fd : procs_) join_fds_.push_back(fd.get());
  cgroup_ = std::move(group);
  return {};
}

void StepProcesses::signal_all(int signal) {
  if (cgroup_) {
    [[maybe_unused]] auto sent = cgroup_->signal_all(signal);
    return;
  }
  os::ProcessSet all;
  all.root = ::getpid();
  all.include_root = false;
  os::signal_processes(all, signal);
}

bool StepProcesses::any_left() const {
  if (cgroup_) {
    auto pids = cgroup_->pids();
    return pids && !pids->empty();
  }
  // Orphans among our descendants are our children: no child, no process.
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

uint64_t StepProcesses::oom_kills() const {
  if (!cgroup_) return 0;
  auto usage = cgroup_->usage();
  return usage ? usage->oom_kills : 0;
}

void StepProcesses::remove() {
  if (!cgroup_) return;
  procs_.clear();
  [[maybe_unused]] auto removed = cgroup_->remove();  // slurmd removes the job's when the job is over
}

}  // namespace muster::slurmstepd
