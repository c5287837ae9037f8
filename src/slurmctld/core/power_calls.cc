#include "slurmctld/core/power_calls.h"

#include <algorithm>

#include "config/power_action.h"

namespace muster::slurmctld {
namespace {

void add_jobs(const Indexes& indexes, PowerNodes& call) {
  for (NodeId node : call.nodes)
    for (JobId job : indexes.jobs_on(node)) call.jobs.push_back(job);
  std::ranges::sort(call.jobs);
  call.jobs.erase(std::ranges::unique(call.jobs).begin(), call.jobs.end());
}

// Whether these nodes reboot themselves, by RebootProgram or a PowerAction that runs there.
bool reboot_themselves(const config::Config& config, const PowerNodes& call) {
  return call.program == event::PowerProgram::kReboot && !config::reboots_from_controller(config, call.action);
}

// The PowerAction by which these nodes power themselves down; null: the controller has it done.
const config::PowerActionConfig* own_action(const config::Config& config, const PowerNodes& call) {
  if (call.program != event::PowerProgram::kSuspend) return nullptr;
  const config::PowerCommand command = config::power_command(config, config.suspend_program, call.action);
  return command.on_slurmd() ? command.action : nullptr;
}

}  // namespace

void PowerCalls::add(const event::NodeStateChanged& change) {
  if (change.run == event::PowerProgram::kNone) return;
  // ResumeFailProgram is told of nodes, however they were to come up.
  const std::string action = change.run == event::PowerProgram::kResumeFailed ? std::string() : change.power_action;
  auto same = [&](const PowerNodes& call) {
    return call.program == change.run && call.action == action && call.features == change.boot_features;
  };
  auto at = std::ranges::find_if(calls_, same);
  if (at == calls_.end()) at = calls_.insert(at, PowerNodes{change.run, {}, {}, action, change.boot_features});
  at->nodes.push_back(change.node);
}

void PowerCalls::take(const Cluster& cluster, const Indexes& indexes, const config::Config& config, std::vector<Effect>& out) {
  for (PowerNodes& call : calls_) {
    if (const config::PowerActionConfig* action = own_action(config, call)) {
      for (NodeId id : call.nodes)
        if (const Node* node = cluster.nodes.find(id.value); node && node->connected)
          out.push_back(Order{id, node_rpc::PowerDownNode{action->name}});
      continue;
    }
    if (reboot_themselves(config, call)) {  // one that is not connected is told when it registers
      for (NodeId id : call.nodes)
        if (const Node* node = cluster.nodes.find(id.value); node && node->connected)
          out.push_back(Order{id, node_rpc::RebootNode{node->reason, call.action, call.features, node->reboot_issued}});
      continue;
    }
    if (call.program == event::PowerProgram::kResume) add_jobs(indexes, call);
    out.push_back(std::move(call));
  }
  calls_.clear();
}

}  // namespace muster::slurmctld
