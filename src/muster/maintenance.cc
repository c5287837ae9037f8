#include "muster/maintenance.h"

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "muster/maintenance_words.h"
#include "muster/verbs.h"
#include "os/users.h"

namespace muster::front {
namespace {

std::string user_name(Uid uid) {
  Result<os::User> user = os::find_user(uid);
  return user ? user->name : "uid " + std::to_string(uid.value);
}

template <class Request>
int carry_out(cli::Session& session, const Request& request) {
  auto done = session.call(request);
  return done ? 0 : complain(done.error());
}

int carry_out(cli::Session& session, const MaintenanceShow& show) {
  rpc::MaintenanceRows found;
  auto done = session.stream(rpc::QueryMaintenance{show.name}, [&](rpc::MaintenanceRows&& rows) -> Result<> {
    for (rpc::MaintenanceRow& row : rows.rows) found.rows.push_back(std::move(row));
    return {};
  });
  if (!done) return complain(done.error());
  cli::Out().put(show.json ? to_json(found, user_name) : to_text(found, user_name));
  return 0;
}

}  // namespace

int maintenance_verb(std::span<const std::string> arguments) {
  auto words = read_maintenance_words(arguments);
  if (!words) return complain(words.error());
  Result<cli::Session> session = cli::Session::find(cli::Patience::kNone);
  if (!session) return complain(session.error());
  return std::visit([&](const auto& what) { return carry_out(*session, what); }, *words);
}

}  // namespace muster::front
