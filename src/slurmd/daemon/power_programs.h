// Programs that reboot this node or power it down: RebootProgram, and PowerActions with Location=slurmd. slurm.conf(5).
#pragma once

#include <functional>

#include "os/log.h"
#include "site/programs.h"
#include "slurmd/core/node_core.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

struct PowerRun {
  site::Programs& programs;
  os::Log& log;
  const Setup& setup;
};
// They start the program and return; the log has what goes wrong.
// `over`: the program has ended, and whether it ended well.
void run_reboot(const PowerRun& run, const Reboot& order, std::function<void(bool well)> over);
void run_power_down(const PowerRun& run, const PowerDown& order);

}  // namespace muster::slurmd
