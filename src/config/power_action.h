// PowerAction lines of slurm.conf: programs by name, for what RebootProgram, ResumeProgram, ResumeFailProgram and SuspendProgram do.
// slurm.conf(5), POWERACTION CONFIGURATION; guide power_save.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/slurm_conf.h"

namespace muster::config {

// The line of that name, in any case; null: there is none.
const PowerActionConfig* find_power_action(const Config& config, std::string_view name);
std::set<std::string> power_action_names(const Config& config);

// What is run: a program with the arguments of its own.
struct PowerCommand {
  std::vector<std::string> argv;              // empty: nothing is configured
  const PowerActionConfig* action = nullptr;  // null: a program that is named by its path
  bool on_slurmd() const { return action && action->on_slurmd; }
};
// `program` is the value of one of the four keys, a path or the name of a PowerAction; `action`, if it is not "", is asked for in its place.
PowerCommand power_command(const Config& config, std::string_view program, std::string_view action = {});

// Whether a reboot by that action ("": RebootProgram) is the controller's to run. slurm.conf(5) SlurmctldParameters=reboot_from_controller.
bool reboots_from_controller(const Config& config, std::string_view action);

}  // namespace muster::config
