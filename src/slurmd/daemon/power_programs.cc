#include "slurmd/daemon/power_programs.h"

#include "base/text.h"
#include "config/power_action.h"
#include "slurmd/daemon/node_checks.h"

namespace muster::slurmd {
namespace {

// A PowerAction is told the node after the arguments of its own; what reboots a node for features is told those.
void start(
    const PowerRun& run, const config::PowerCommand& command, const char* key, const std::vector<std::string>& features = {},
    std::function<void(bool)> over = [](bool) {}) {
  std::vector<std::string> arguments(command.argv.begin() + 1, command.argv.end());
  if (command.action) arguments.push_back(run.setup.node_config().name);
  if (!features.empty()) arguments.push_back(join(features, ","));
  run.programs.run({site::ProgramCall(command.argv[0], std::move(arguments))}, node_environment(run.setup), std::nullopt,
                   [&log = run.log, key, over = std::move(over)](const std::string& error) {
                     if (!error.empty()) log.error("{}: {}", key, error);
                     over(error.empty());
                   });
}

}  // namespace

void run_reboot(const PowerRun& run, const Reboot& order, std::function<void(bool)> over) {
  const config::PowerCommand command = config::power_command(run.setup.config(), run.setup.config().reboot_program, order.action);
  if (command.argv.empty()) {
    run.log.error("slurmctld asks for a reboot, and slurm.conf names no {}",
                  order.action.empty() ? "RebootProgram" : "PowerAction " + order.action);
    return over(false);
  }
  run.log.info("rebooting by {}: {}", command.argv[0], order.reason);
  start(run, command, "RebootProgram", order.features, std::move(over));
}

void run_power_down(const PowerRun& run, const PowerDown& order) {
  const config::PowerCommand command = config::power_command(run.setup.config(), {}, order.action);
  if (command.argv.empty()) return run.log.error("slurmctld powers this node down, and slurm.conf names no PowerAction {}", order.action);
  run.log.info("powering down by {}", command.argv[0]);
  start(run, command, "SuspendProgram");
}

}  // namespace muster::slurmd
