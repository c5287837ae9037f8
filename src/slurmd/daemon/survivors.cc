#include "slurmd/daemon/survivors.h"

#include <algorithm>
#include <map>

namespace muster::slurmd {
namespace {

std::vector<pid_t> pids_of_group(const std::optional<os::CgroupOptions>& groups, const step_rpc::StepdReport& step) {
  if (!groups) return {};
  auto here = os::Cgroups::open(*groups);
  if (!here) return {};
  auto group = here->find(os::group_levels(step.job, step.step));
  if (!group) return {};
  return group->pids().value_or(std::vector<pid_t>{});
}

// Of how many is looked at each thread: a step may leave tens of thousands.
constexpr size_t kMostLookedAt = 4 * kMostSurvivors;

// What holds most comes first.
int rank_of(const os::ProcessInfo& process) {
  switch (process.state) {
    case 'D': return 0;
    case 'T':
    case 't': return 1;
    case 'Z': return 3;
    default: return 2;
  }
}

}  // namespace

std::vector<os::ProcessHold> survivors_of(const std::optional<os::CgroupOptions>& groups, const step_rpc::StepdReport& step) {
  std::map<pid_t, os::ProcessInfo> found;
  for (pid_t pid : pids_of_group(groups, step))
    if (auto process = os::read_process(pid)) found.emplace(pid, std::move(*process));
  if (step.pid > 0) {
    os::ProcessSet below;  // its environment is not asked for: that may hang as the process does
    below.root = step.pid;
    for (os::ProcessInfo& process : os::find_processes(below)) found.emplace(process.pid, std::move(process));
  }
  std::vector<os::ProcessInfo> likely;
  for (auto& [pid, process] : found) likely.push_back(std::move(process));
  std::ranges::stable_sort(likely, {}, rank_of);
  likely.resize(std::min(likely.size(), kMostLookedAt));
  std::vector<os::ProcessHold> out;
  for (const os::ProcessInfo& process : likely) out.push_back(os::what_holds(process));
  std::ranges::stable_sort(out, {}, [](const os::ProcessHold& hold) { return rank_of(hold.process); });
  out.resize(std::min(out.size(), kMostSurvivors));
  return out;
}

std::string tell_survivors(os::Log& log, const std::string& step, const std::vector<os::ProcessHold>& survivors) {
  for (const os::ProcessHold& each : survivors) log.error("step {}: {}", step, os::hold_text(each));
  if (survivors.empty()) return {};
  return os::hold_text(survivors.front(), " of step " + step);
}

}  // namespace muster::slurmd
