#include "net/daemon_signals.h"

#include <signal.h>

namespace muster::net {

void ignore_daemon_signals() {
  for (int signo : {SIGPIPE, SIGUSR1, SIGXCPU, SIGXFSZ, SIGALRM, SIGHUP, SIGUSR2, SIGPROF}) ::signal(signo, SIG_IGN);
}

void wire_daemon_signals(Loop& loop, const DaemonSignals& signals) {
  ignore_daemon_signals();
  for (int signo : {SIGTERM, SIGINT, SIGQUIT}) loop.on_signal(signo, [stop = signals.stop, signo] { stop(signo); });
  loop.on_signal(SIGHUP, signals.reload);
  loop.on_signal(SIGUSR2, signals.reopen_log);
  loop.on_signal(SIGPROF, signals.report);
}

}  // namespace muster::net
