#include "slurmstepd/processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/node/step_scope.h"
#include "os/process_tree.h"

namespace muster::slurmstepd {
namespace {

Result<> limit_memory(os::Cgroup& group, uint64_t hard, uint64_t soft, uint64_t swap, const step_rpc::StepCgroup& c) {
  if (!hard) return {};
  os::MemoryLimits m;
  m.hard_bytes = hard;
  if (soft) m.soft_bytes = soft;
  if (c.limit_swap) m.ram_and_swap_bytes = hard + swap;
  if (c.swappiness >= 0) m.swappiness = static_cast<uint32_t>(c.swappiness);
  return group.set_memory(m);
}

// Of IMEX channels the one that is its own stays open; other jobs' come and go.
std::vector<os::DeviceRule> channel_rules(const step_rpc::StepCgroup& c) {
  if (!c.channel_driver) return {};
  std::vector<os::DeviceRule> out;
  if (c.channel) out.push_back({.major = c.channel_driver, .minor = *c.channel, .allowed = true});
  out.push_back({.major = c.channel_driver, .any_minor = true});
  return out;
}

Result<> close_devices(os::Cgroup& group, const std::vector<std::string>& files, std::vector<os::DeviceRule> denied = {}) {
  for (const std::string& file : files)
    if (auto rule = os::device_rule(file)) denied.push_back(*rule);  // a file that is not there needs no door
  return group.deny_devices(denied);
}

Result<> constrain(os::Cgroup& step, os::Cgroup& job, const step_rpc::StepCgroup& c) {
  MUSTER_TRY_VOID(limit_memory(job, c.job_memory_bytes, c.job_soft_bytes, c.job_swap_bytes, c));
  MUSTER_TRY_VOID(limit_memory(step, c.step_memory_bytes, c.step_soft_bytes, c.step_swap_bytes, c));
  if (c.limit_cpus) {
    if (c.job_os_cpus.any()) MUSTER_TRY_VOID(job.set_cpus(c.job_os_cpus));
    MUSTER_TRY_VOID(step.set_cpus(c.os_cpus, c.numa_nodes));
  }
  if (!c.limit_devices) return {};
  return close_devices(step, c.denied_devices, channel_rules(c));
}

}  // namespace

Result<> StepProcesses::prepare(const step_rpc::StepdLaunch& launch) {
  if (launch.cgroup.empty()) return {};
  const step_rpc::StepCgroup& cgroup = launch.cgroup.front();
  os::CgroupOptions options;
  options.mountpoint = cgroup.mountpoint;
  options.prefix = cgroup.prefix;
  if (cgroup.version == 1) options.version = os::CgroupVersion::kV1;
  if (cgroup.version == 2) options.version = os::CgroupVersion::kV2;
  MUSTER_TRY(groups, os::Cgroups::open(options));
  if (groups.support().version == os::CgroupVersion::kNone) {
    if (!cgroup.required) return {};
    return fail(Errc::kUnsupported, "cgroup.conf wants jobs confined, and no cgroup can be used here: " + groups.support().reason);
  }
  if (groups.support().version == os::CgroupVersion::kV2) {
    // We leave slurmd's own group: systemd must find it without groups below it when it starts slurmd again.
    MUSTER_TRY(daemons, groups.create({os::kStepDaemonsGroup}));
    MUSTER_TRY_VOID(daemons.add(::getpid()));
  }
  MUSTER_TRY(job_group, groups.create(os::group_levels(launch.job)));
  MUSTER_TRY(group, groups.create(os::group_levels(launch.job, launch.step)));
  if (auto ok = constrain(group, job_group, cgroup); !ok) return ok;
  cgroup_ = std::move(group);
  job_group_ = std::move(job_group);
  limits_ = cgroup;
  const bool asked_by_task = launch.gather && launch.gather->by_cgroup;
  if (asked_by_task || launch.step == kExternStep ||
      std::ranges::any_of(launch.tasks, [](const auto& t) { return !t.denied_devices.empty(); }))
    return divide(groups, os::group_levels(launch.job, launch.step), launch);
  return join(*cgroup_);
}

Result<> StepProcesses::limit_memory(const step_rpc::StepdMemory& m) {
  if (!cgroup_ || !m.hard_bytes) return {};
  const auto lower = [&](os::Cgroup& group, uint64_t& now) -> Result<> {
    if (now && now <= m.hard_bytes) return {};
    MUSTER_TRY_VOID(slurmstepd::limit_memory(group, m.hard_bytes, m.soft_bytes, m.swap_bytes, limits_));
    now = m.hard_bytes;
    return {};
  };
  MUSTER_TRY_VOID(lower(*cgroup_, limits_.step_memory_bytes));
  return lower(*job_group_, limits_.job_memory_bytes);
}

Result<> StepProcesses::join(const os::Cgroup& group) {
  MUSTER_TRY(procs, group.open_procs());
  procs_ = std::move(procs);
  for (const os::Fd& fd : procs_) join_fds_.push_back(fd.get());
  return {};
}

// In version 2 only groups without groups below them hold processes: those that are no task's get a group as well.
Result<> StepProcesses::divide(const os::Cgroups& groups, std::vector<std::string> levels, const step_rpc::StepdLaunch& launch) {
  levels.emplace_back("special");
  MUSTER_TRY(special, groups.create(levels));
  MUSTER_TRY_VOID(join(special));
  for (size_t i = 0; i < launch.tasks.size(); ++i) {
    levels.back() = "task_" + std::to_string(i);
    MUSTER_TRY(group, groups.create(levels));
    MUSTER_TRY_VOID(close_devices(group, launch.tasks[i].denied_devices));
    tasks_.push_back(std::move(group));
  }
  return {};
}

Result<std::vector<int>> StepProcesses::join_fds_of(size_t task, std::vector<os::Fd>& held) const {
  if (tasks_.empty()) return join_fds_;
  MUSTER_TRY(procs, tasks_.at(task).open_procs());
  held = std::move(procs);
  std::vector<int> out;
  for (const os::Fd& fd : held) out.push_back(fd.get());
  return out;
}

void StepProcesses::signal_all(int signal, const Spared& spared) {
  if (cgroup_ && spared.groups.empty()) {
    // cgroup.kill leaves nothing; a list of processes is out of date when it has been read.
    [[maybe_unused]] auto sent = signal == SIGKILL ? cgroup_->kill(Duration{}) : cgroup_->signal_all(signal);
    return;
  }
  if (cgroup_) return signal_others(signal, spared);
  os::ProcessSet all;
  all.root = ::getpid();
  all.include_root = false;
  all.except = spared.processes;
  all.except_groups = spared.groups;
  os::signal_processes(all, signal);
}

void StepProcesses::signal_others(int signal, const Spared& spared) const {
  auto pids = cgroup_->pids();
  if (!pids) return;
  for (pid_t pid : *pids) {
    auto process = os::read_process(pid);
    if (process && std::ranges::find(spared.groups, process->group) == spared.groups.end()) os::signal_process(*process, signal);
  }
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
