#include "cli/common/session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "config/hosts.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/users.h"
#include "site/trust.h"

namespace muster::cli {
namespace {

// The controller's own socket where it runs, else that of this host's node daemon, which passes on users' requests.
std::vector<std::string> agent_sockets(const ClientConf& conf) {
  std::vector<std::string> out{site::slurmctld_agent_socket(conf.slurmctld_pid_file, conf.slurmctld_port)};
  std::string host = short_hostname();
  const char* node = getenv("SLURMD_NODENAME");
  for (const std::string& name : {std::string(node ? node : ""), host})
    if (!name.empty() && name.find('/') == name.npos)
      out.push_back(site::slurmd_agent_socket(config::substitute_node(conf.slurmd_pid_file, name, host), name));
  for (std::string& sackd : site::sackd_sockets(conf.path)) out.push_back(std::move(sackd));
  return out;
}

// slurmdbd's socket is beside its pid file: where slurmdbd.conf says, if it may be read here, else beside slurmctld's, else at the default.
std::vector<std::string> database_sockets(const ClientConf& conf) {
  std::vector<std::string> out;
  std::string text = os::read_file(conf.directory() + "/slurmdbd.conf", 1 << 20).value_or("");
  for (std::string_view line : split(text, '\n')) {
    size_t equals = line.find('=');
    if (equals == line.npos || !iequals(trim(line.substr(0, equals)), "PidFile")) continue;
    std::string_view path = trim(line.substr(equals + 1, line.find('#', equals) - equals - 1));
    out.push_back(site::slurmdbd_agent_socket(std::string(path), conf.accounting_port));
  }
  for (const std::string& pid_file : {conf.slurmctld_pid_file, std::string("/var/run/slurmdbd.pid")})
    if (std::string socket = site::slurmdbd_agent_socket(pid_file, conf.accounting_port); std::ranges::find(out, socket) == out.end())
      out.push_back(socket);
  return out;
}

net::ClientOptions options_for(const ClientConf& conf, Patience patience, Whom whom) {
  net::ClientOptions o = client_options(conf, patience);
  const char* manager = getenv("SLURM_STEPMGR");
  if (whom != Whom::kStepManager || !manager || !*manager || std::string_view(manager).find('/') != std::string_view::npos) return o;
  o.agent_sockets.insert(o.agent_sockets.begin(),
                         site::slurmd_agent_socket(config::substitute_node(conf.slurmd_pid_file, manager, short_hostname()), manager));
  return o;
}

constexpr Duration kPatienceForPlace = seconds(2);
constexpr Duration kTurnsToBackupAfter = seconds(3);  // from a slurmdbd that hangs; one that is only busy answers a Ping at once

std::string read_key(const ClientConf& conf) {
  const char* named = getenv("SLURM_SACK_KEY");
  if (named && *named) return os::read_file(named, 1 << 16).value_or("");
  return site::read_cluster_key(conf.directory()).value_or("");  // most users may not read it: they have the agent socket
}

}  // namespace

net::ClientOptions client_options(const ClientConf& conf, Patience patience) {
  net::ClientOptions options;
  options.agent_sockets = agent_sockets(conf);
  options.trusted_uids.push_back(getuid());
  if (conf.slurm_user != "root")
    if (Result<Uid> uid = os::find_uid(conf.slurm_user)) options.trusted_uids.push_back(uid->value);
  for (const ControllerHost& h : conf.controllers) options.controllers.push_back({h.address, conf.slurmctld_port});
  if (conf.auth_type == "auth/munge") {
    options.security.kind = net::Security::Kind::kMunge;
    options.security.munge_socket = conf.auth_socket;
    options.security.trusted_uids.assign(options.trusted_uids.begin() + 1, options.trusted_uids.end());
  } else {
    options.security.key = read_key(conf);
  }
  Duration timeout = seconds(conf.message_timeout_seconds);
  options.patience = patience == Patience::kNone ? Duration{} : timeout;
  options.timeout = timeout;
  return options;
}

net::ClientOptions database_options(const ClientConf& conf, Patience patience) {
  net::ClientOptions o = client_options(conf, patience);
  o.agent_sockets = database_sockets(conf);
  o.controllers.clear();
  for (const std::string& host : {conf.accounting_host, conf.accounting_backup_host})
    if (!host.empty()) o.controllers.push_back({host, conf.accounting_port});
  if (!conf.accounting_backup_host.empty()) o.agent_answers_in = o.timeout = std::min(o.timeout, kTurnsToBackupAfter);
  return o;
}

Result<Session> Session::find(Patience patience, Whom whom) {
  MUSTER_TRY(conf, find_client_conf());
  return Session(std::move(conf), patience, whom);
}

bool Session::is_connection_error(const Error& e) {
  switch (e.code) {
    case Errc::kConnectFailed:
    case Errc::kSendFailed:
    case Errc::kReceiveFailed:
    case Errc::kCommunicationFailed: return true;
    default: return false;
  }
}

bool Session::wait_a_moment(Waiting& w) const { return patience_ != Patience::kNone && wait(w, seconds(conf_.message_timeout_seconds)); }

bool Session::wait_for_place(Waiting& w) const {
  return wait(
      w, patience_ == Patience::kNone ? kPatienceForPlace : std::max(kPatienceForPlace, Duration(seconds(conf_.message_timeout_seconds))));
}

bool Session::wait(Waiting& w, Duration patience) {
  const Time now = os::monotonic_now();
  if (!w.until) w.until = now + patience;
  if (now >= *w.until) return false;
  ::poll(nullptr, 0, static_cast<int>(w.pause / milliseconds(1)));
  w.pause = std::min(w.pause * 2, Duration(milliseconds(100)));
  return true;
}

std::optional<Session> find_session(Patience patience, std::string_view clusters, const os::CliLog& log) {
  Result<Session> session = Session::find(patience);
  if (!session) {
    report_fatal(log, session.error());
    return std::nullopt;
  }
  if (Result<> ours = check_clusters(session->conf(), clusters); !ours) {
    report(log, ours.error());
    return std::nullopt;
  }
  return std::move(*session);
}

Result<> Session::connect() {
  if (client_) return {};
  MUSTER_TRY(client, whom_ == Whom::kDatabase ? connect_database() : net::connect_client(options_for(conf_, patience_, whom_)));
  client_ = std::move(client);
  return {};
}

Result<std::unique_ptr<net::Client>> Session::connect_database() {
  const net::ClientOptions how = database_options(conf_, patience_);
  auto client = net::connect_client(how);
  through_controller_ = false;
  if (client || client.error().code != Errc::kConnectFailed) return client;
  const bool keyless = how.security.kind == net::Security::Kind::kSlurmKey && how.security.key.empty();
  const std::string place = conf_.accounting_host + ":" + std::to_string(conf_.accounting_port);
  if (keyless) {
    client = net::connect_client(client_options(conf_, patience_));
    through_controller_ = client.has_value();
    if (through_controller_) return client;
  }
  return fail(Errc::kConnectFailed, "Connection refused",
              keyless ? "slurmdbd has no agent socket on this host, and at " + place +
                            " it asks for the cluster key, which you may not read; no slurmctld or slurmd is here to pass the question on"
                      : "slurmdbd does not answer at " + place + " (AccountingStorageHost, AccountingStoragePort of " + conf_.path + ")");
}

}  // namespace muster::cli
