// slurmd's start: arguments, configuration, pid file, detaching, log; then the daemon runs.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/version.h"
#include "net/daemon_signals.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/service_manager.h"
#include "site/conf_files.h"
#include "slurmd/daemon/configless.h"
#include "slurmd/daemon/gres_setup.h"
#include "slurmd/daemon/join.h"
#include "slurmd/daemon/slurmd.h"

namespace muster::slurmd {
namespace {

std::string absolute(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string out = real ? real : path;
  std::free(real);
  return out;
}

int complain(std::optional<os::Detached>& background, const Error& e) {
  std::string text = "slurmd: fatal: " + std::string(e.message()) + (e.hint.empty() ? "" : "\nslurmd: " + e.hint);
  if (background) background->failed(text);
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

}  // namespace

int run_slurmd(int argc, char** argv) {
  net::ignore_daemon_signals();
  const std::string notify_socket = os::take_notify_socket();
  Arguments arguments = parse_arguments(argc, argv);
  if (arguments.exit_now >= 0) return arguments.exit_now;
  if (arguments.print_hardware) return print_hardware(arguments);
  std::optional<os::Detached> background;
  if (!arguments.token_file.empty()) {
    arguments.token_file = absolute(arguments.token_file);
    if (auto ok = join_by_token(arguments); !ok) return complain(background, ok.error());
  }
  if (auto ok = fetch_configuration(arguments); !ok) return complain(background, ok.error());
  arguments.conf_file = absolute(site::find_conf(arguments.conf_file));  // the working directory changes
  if (arguments.join)
    if (auto ok = join_cluster(arguments); !ok) return complain(background, ok.error());
  auto setup = load_setup(arguments);
  if (!setup) return complain(background, setup.error());
  if (arguments.print_gres) return print_gres(*setup);
  // A node with the cluster key gets a certificate, too: others may know it by that alone.
  if (!arguments.membership && setup->security.kind != net::Security::Kind::kMunge) {
    arguments.membership = std::make_shared<agent::Membership>(Subject{SubjectKind::kNode, setup->node});
    setup->security.identity = arguments.membership->identity();
  }
  if (!arguments.foreground) {
    auto begun = os::Detached::begin();
    if (!begun) return complain(background, begun.error());
    background = std::move(*begun);
  }
  if (arguments.nice) (void)::setpriority(PRIO_PROCESS, 0, *arguments.nice);
  [[maybe_unused]] auto files = os::raise_own_nofile();
  os::unlimit_own_memlock();
  auto pid_file = os::PidFile::create(setup->pid_file);
  if (!pid_file) return complain(background, pid_file.error());
  if (auto ok = pid_file->write_pid(); !ok) return complain(background, ok.error());
  std::string directory = arguments.change_directory ? setup->spool : "/";
  auto log = os::Log::open(log_options(*setup, arguments));
  if (!log) return complain(background, log.error());
  (*log)->info("slurmd version {} started", kVersion);
  if (arguments.lock_memory && ::mlockall(MCL_CURRENT | MCL_FUTURE) < 0) (*log)->error("failed to mlock() slurmd pages");
  Slurmd daemon(std::move(*setup), arguments, **log);
  if (auto ok = daemon.start(); !ok) {
    (*log)->fatal("{}", ok.error().message());
    return complain(background, ok.error());
  }
  if (background)
    if (auto ok = background->ready(directory); !ok) return complain(background, ok.error());
  if (auto ok = os::tell_ready(notify_socket); !ok) (*log)->error("{}", ok.error().message());
  daemon.run();
  (*log)->info("slurmd ends");
  return 0;
}

}  // namespace muster::slurmd
