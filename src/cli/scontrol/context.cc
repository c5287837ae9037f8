#include "cli/scontrol/context.h"

namespace muster::cli {

Session* Context::find(std::optional<Session>& session, Patience patience) {
  if (session) return &*session;
  session = find_session(patience, options.clusters, log);
  if (session) return &*session;
  exit_code = 1;
  return nullptr;
}

Session* Context::query_session() { return find(query_, Patience::kNone); }
Session* Context::control_session() { return find(control_, Patience::kMessageTimeout); }

void Context::use_cluster(const std::string& name) {
  std::string before = std::exchange(options.clusters, name);
  query_.reset();
  control_.reset();
  if (!query_session()) options.clusters = before;
}

void Context::complain(std::string_view lines) {
  if (!options.quiet) return Dialogue::complain(lines);
  exit_code = 1;
}

void Context::complain(const std::string& prefix, const Error& e) {
  complain(prefix + std::string(e.message()));
  if (!e.hint.empty()) complain("  " + e.hint);
}

void Context::complain_input(const std::string& prefix, const Error& e) {
  complain(e.code == Errc::kInvalidArgument && !e.text.empty() ? "" : prefix, e);
}

void Context::unavailable(const std::string& what) { complain("scontrol: error: " + what + " is not available in this version of Muster"); }

void Context::refuse(const std::string& what, const std::string& why) { complain("scontrol: error: " + what + " is refused: " + why); }

}  // namespace muster::cli
