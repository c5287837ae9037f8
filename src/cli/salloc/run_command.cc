#include "cli/salloc/run_command.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "os/error.h"
#include "os/fd.h"
#include "os/users.h"

namespace muster::cli {

std::string user_shell() {
  const char* shell = getenv("SHELL");
  if (shell && *shell) return shell;
  if (Result<os::User> user = os::find_user(Uid{getuid()}); user && !user->shell.empty()) return user->shell;
  return "/bin/sh";
}

Result<ChildCommand> ChildCommand::start(std::vector<std::string> argv, std::vector<std::string> environment, const std::string& cwd) {
  // The command shares our process group, so the terminal's signals reach it; salloc ignores them, because it must give the nodes back.
  for (int s : {SIGINT, SIGQUIT, SIGTSTP}) signal(s, SIG_IGN);
  sigset_t passed;
  sigemptyset(&passed);
  for (int s : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&passed, s);
  sigprocmask(SIG_BLOCK, &passed, nullptr);
  os::SpawnSpec spec;
  spec.path = argv[0];
  spec.argv = std::move(argv);
  spec.env = std::move(environment);
  spec.cwd = cwd;
  MUSTER_TRY(pid, os::spawn(spec));
  ChildCommand out;
  out.pid_ = pid;
  return out;
}

Result<os::ExitStatus> ChildCommand::wait(int revoked_fd, int kill_signal) {
  sigset_t passed;
  sigemptyset(&passed);
  for (int s : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&passed, s);
  os::Fd signals(signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return os::fail_errno("signalfd");
  for (;;) {
    Result<os::Reaped> ended = os::wait_child(pid_, Duration{});
    if (ended) return ended->status;
    if (ended.error().code != Errc::kTimedOut) return std::unexpected(ended.error());
    pollfd fds[2] = {{signals.get(), POLLIN, 0}, {revoked_fd, POLLIN, 0}};
    poll(fds, revoked_fd >= 0 ? 2 : 1, -1);
    signalfd_siginfo got{};
    while (read(signals.get(), &got, sizeof got) == sizeof got)
      if (got.ssi_signo != SIGCHLD) kill(pid_, static_cast<int>(got.ssi_signo));
    if (revoked_fd >= 0 && fds[1].revents) {
      kill(pid_, kill_signal);
      revoked_fd = -1;
    }
  }
}

}  // namespace muster::cli
