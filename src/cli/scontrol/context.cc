#include "cli/scontrol/context.h"

#include <unistd.h>

namespace muster::cli {

Session* Context::find(std::optional<Session>& session, Patience patience) {
  if (session) return &*session;
  Result<Session> found = Session::find(patience);
  if (!found) {
    log.fatal("{}", found.error().message());
    if (!found.error().hint.empty()) log.info("{}", found.error().hint);
    exit_code = 1;
    return nullptr;
  }
  if (Result<> ours = check_clusters(found->conf(), options.clusters); !ours) {
    report(log, ours.error());
    exit_code = 1;
    return nullptr;
  }
  session.emplace(std::move(*found));
  return &*session;
}

Session* Context::query_session() { return find(query_, Patience::kNone); }
Session* Context::control_session() { return find(control_, Patience::kMessageTimeout); }

void Context::use_cluster(const std::string& name) {
  std::string before = std::exchange(options.clusters, name);
  query_.reset();
  control_.reset();
  if (!query_session()) options.clusters = before;
}

void Context::complain(const std::string& line) {
  exit_code = 1;
  if (options.quiet) return;   // as Slurm does: the exit code tells
  std::string text = line + "\n";
  [[maybe_unused]] ssize_t n = ::write(2, text.data(), text.size());
}

void Context::complain(const std::string& prefix, const Error& e) {
  complain(prefix + std::string(e.message()));
  if (!e.hint.empty()) complain("  " + e.hint);
}

void Context::complain_input(const std::string& prefix, const Error& e) {
  complain(e.code == Errc::kInvalidArgument && !e.text.empty() ? "" : prefix, e);
}

void Context::unavailable(const std::string& what) {
  complain("scontrol: error: " + what + " is not available in this version of Muster");
}

void Context::refuse(const std::string& what, const std::string& why) {
  complain("scontrol: error: " + what + " is refused: " + why);
}

}  // namespace muster::cli
