// The signals of the daemons: slurmctld(8), slurmd(8), slurmdbd(8), SIGNALS. The three share one table, so that none of them dies of a
// signal that its page says is ignored. SIGABRT (slurmctld) and SIGCHLD are handled by the daemons themselves; SIGTSTP stops them as it
// does every program.
#pragma once

#include <functional>

#include "net/loop.h"

namespace muster::net {

// Called first in main(): ignores the signals to be ignored, and until their handlers are set, those that have handlers. Programs that
// are started do not inherit this (os::spawn).
void ignore_daemon_signals();

struct DaemonSignals {
  std::function<void(int signo)> stop;  // SIGTERM, SIGINT, SIGQUIT
  std::function<void()> reload;         // SIGHUP: as scontrol reconfigure
  std::function<void()> reopen_log;     // SIGUSR2: the level as configured now, and the log's file anew
  std::function<void()> report;         // SIGPROF: the state of connections into the log
};
void wire_daemon_signals(Loop& loop, const DaemonSignals& signals);

}  // namespace muster::net
