// Requests to slurmdbd itself: ping, reconfigure, shutdown, its configuration.
#include "base/text.h"
#include "cli/common/version.h"
#include "cli/sacctmgr/listing.h"
#include "fields/json_database.h"
#include "fields/values.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

using fields::ConfigLine;

std::string pair(const ConfigLine& line) {
  constexpr size_t kColumn = 22;
  std::string out = line.key;
  if (line.of == "client" && out.size() >= kColumn) out += ' ';
  out.resize(std::max(out.size(), kColumn), ' ');
  return out + " = " + (line.value.empty() ? "(null)" : line.value) + "\n";
}

// The keys of slurm.conf that lead to slurmdbd.
std::vector<ConfigLine> own_configuration(const ClientConf& conf) {
  Result<Uid> uid = os::find_uid(conf.slurm_user);
  return {{"client", "AccountingStorageBackupHost", conf.accounting_backup_host},
          {"client", "AccountingStorageHost", conf.accounting_host},
          {"client", "AccountingStoragePort", std::to_string(conf.accounting_port)},
          {"client", "AccountingStorageType", conf.accounting_dbd ? "accounting_storage/slurmdbd" : ""},
          {"client", "AuthType", conf.auth_type},
          {"client", "MessageTimeout", std::to_string(conf.message_timeout_seconds) + " sec"},
          {"client", "SlurmUserId", conf.slurm_user + (uid ? "(" + std::to_string(uid->value) + ")" : "")},
          {"client", "SLURM_CONF", conf.path},
          {"client", "SLURM_VERSION", std::string(kSlurmVersion)}};
}

std::vector<ConfigLine> database_configuration(const std::string& text) {
  std::vector<ConfigLine> out;
  for (std::string_view line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals != line.npos) out.push_back({"slurmdbd", std::string(line.substr(0, equals)), std::string(line.substr(equals + 1))});
  }
  return out;
}

template <class Request>
bool told_daemon(Context& c) {
  Session* session = c.session();
  if (!session) return false;
  auto answer = session->call(Request{});
  if (!answer) c.complain(answer.error());
  return answer.has_value();
}

// Each of two slurmdbds. Whoever may speak with neither over the network asks whichever serves, as where there is one.
bool ping_both(Context& context) {
  const ClientConf* conf = context.conf();
  if (!conf || !conf->accounting_dbd || conf->accounting_backup_host.empty()) return false;
  net::ClientOptions how = database_options(*conf, Patience::kNone);
  if (!how.security.can_prove()) return false;
  how.agent_sockets.clear();
  Out out;
  std::optional<DatabaseDocument> document;
  if (as_data(context)) document.emplace(context, "pings", *conf, out);
  bool any = false;
  for (const bool primary : {true, false}) {
    const std::string& host = primary ? conf->accounting_host : conf->accounting_backup_host;
    const Time began = os::monotonic_now();
    how.controllers = {{host, conf->accounting_port}};
    auto client = net::connect_client(how);
    const bool up = client && (*client)->request(wire::number_of<rpc::Ping>, wire::encoded(rpc::Ping{}), how.timeout);
    any = any || up;
    if (document) fields::json_database_ping({host, up, primary, (os::monotonic_now() - began).count()}, document->sink());
    else out.line("slurmdbd(" + std::string(primary ? "primary" : "backup") + ") at " + host + " is " + (up ? "UP" : "DOWN"));
  }
  if (!any) context.exit_code = 1;
  return true;
}

void ping_one(Context& context) {
  const Time began = os::monotonic_now();
  Session* session = context.session();
  Result<rpc::Pong> pong = fail(Errc::kError);
  if (session) pong = session->call(rpc::Ping{});
  if (session && !pong) context.complain(pong.error());
  const ClientConf* conf = as_data(context) ? context.conf() : nullptr;
  if (conf && conf->accounting_dbd) {  // also of one that does not answer
    Out out;
    DatabaseDocument document(context, "pings", *conf, out);
    fields::json_database_ping({conf->accounting_host, pong.has_value(), true, (os::monotonic_now() - began).count()}, document.sink());
  } else if (pong) {
    Out().line("slurmdbd(primary) at " + session->conf().accounting_host + " is UP");
  }
}

}  // namespace

void ping(Context& context, Words) {
  if (!ping_both(context)) ping_one(context);
}

void reconfigure(Context& c, Words words) {
  if (!words.empty()) return c.complain("too many arguments for reconfigure keyword");
  if (c.options.readonly) return c.complain("Can't run this command in readonly mode.");
  told_daemon<rpc::Reconfigure>(c);
}

void shutdown(Context& c, Words) {
  if (c.options.readonly) return c.complain("Can't run this command in readonly mode.");
  told_daemon<rpc::Shutdown>(c);
}

void show_configuration(Context& context) {
  Session* session = context.session();
  if (!session) return;
  rpc::QueryText query;
  query.subject = "config";
  Result<rpc::Text> answer = session->call(query);
  if (!answer) return context.complain(answer.error());
  const std::vector<ConfigLine> own = own_configuration(session->conf()), told = database_configuration(answer->text);
  Out out;
  if (as_data(context)) {
    DatabaseDocument document(context, "configuration", session->conf(), out);
    for (const auto& lines : {own, told})
      for (const ConfigLine& line : lines) fields::json_config_line(line, document.sink());
    return;
  }
  out.put("Configuration data as of " + format_time(os::wall_now()) + "\n");
  for (const ConfigLine& line : own) out.put(pair(line));
  out.put("\nSlurmDBD configuration:\n");
  for (const ConfigLine& line : told) out.put(pair(line));
}

}  // namespace muster::cli
