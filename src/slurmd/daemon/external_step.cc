#include "slurmd/daemon/external_step.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "os/process_tree.h"

namespace muster::slurmd {
namespace {

// Adopted processes are with the step's own task: in cgroup v2 only a group without groups below it has any.
Result<os::Cgroup> group_of(const Setup& setup, JobId job) {
  if (!setup.groups) return fail(Errc::kUnsupported, "there are no control groups on this node (ProctrackType=proctrack/cgroup)");
  MUSTER_TRY(here, os::Cgroups::open(*setup.groups));
  std::vector<std::string> levels = os::group_levels(job, kExternStep);
  levels.emplace_back("task_0");
  if (auto group = here.find(levels)) return *group;
  return fail(Errc::kNotFound, "the external step of job " + std::to_string(job.value) + " has no control group");
}

// When it came, in seconds since the machine started.
uint64_t came(const step_rpc::StepdReport& step) {
  auto stepd = os::read_process(step.pid);
  return stepd ? stepd->start_ticks / static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK))) : 0;
}

// LaunchParameters=ulimit_pam_adopt: the step's own process has the limit from its start, and logins get the same.
void limit_as(const step_rpc::StepdReport& step, pid_t process) {
  if (step.tasks.empty()) return;
  rlimit its{}, own{};
  if (::prlimit(step.tasks.front().pid, RLIMIT_RSS, nullptr, &its) < 0 || ::prlimit(process, RLIMIT_RSS, nullptr, &own) < 0) return;
  own.rlim_cur = std::min(its.rlim_cur, own.rlim_max);
  ::prlimit(process, RLIMIT_RSS, &own, nullptr);
}

}  // namespace

std::vector<os::Fd> external_procs(const Setup& setup, os::Log& log, JobId job) {
  if (!setup.groups) return {};
  auto group = group_of(setup, job);
  auto procs = group ? group->open_procs() : std::unexpected(group.error());
  if (!procs) log.error("PrologFlags=RunInJob, job {}: {}", job.value, procs.error().message());
  return procs ? std::move(*procs) : std::vector<os::Fd>();
}

std::vector<pid_t> external_processes(const Setup& setup, JobId job) {
  auto group = group_of(setup, job);
  auto pids = group ? group->pids() : std::unexpected(group.error());
  return pids ? std::move(*pids) : std::vector<pid_t>();
}

rpc::ProcessAdopted adopt(const Setup& setup, std::vector<step_rpc::StepdReport> steps, bool only_one, pid_t process) {
  rpc::ProcessAdopted out;
  if (steps.empty()) out.outcome = rpc::Adoption::kNoJobs;
  else if (only_one && steps.size() > 1) out.outcome = rpc::Adoption::kSeveralJobs;
  if (out.outcome != rpc::Adoption::kDone) return out;
  const step_rpc::StepdReport newest = std::ranges::max(steps, {}, [](const auto& s) { return std::pair(came(s), s.job); });
  out.job = newest.job;
  auto group = group_of(setup, out.job);
  auto added = group ? group->add(process) : std::unexpected(group.error());
  if (added && setup.config().launch_parameters.has("ulimit_pam_adopt")) limit_as(newest, process);
  if (added) return out;
  out.outcome = rpc::Adoption::kFailed;
  out.text = added.error().message();
  return out;
}

}  // namespace muster::slurmd
