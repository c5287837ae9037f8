// Requests to slurmdbd itself: ping, reconfigure, shutdown, its configuration.
#include "base/text.h"
#include "cli/common/version.h"
#include "cli/sacctmgr/context.h"
#include "fields/values.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

std::string pair(std::string_view key, std::string_view value) {
  std::string out(key);
  out.resize(std::max<size_t>(out.size(), 22), ' ');
  return out + " = " + (value.empty() ? "(null)" : std::string(value)) + "\n";
}

// Prints the keys of slurm.conf that lead to slurmdbd.
std::string own_configuration(const ClientConf& conf) {
  Result<Uid> uid = os::find_uid(conf.slurm_user);
  return "Configuration data as of " + format_time(os::wall_now()) + "\n" +
         pair("AccountingStorageBackupHost ", conf.accounting_backup_host) + pair("AccountingStorageHost ", conf.accounting_host) +
         pair("AccountingStoragePort ", std::to_string(conf.accounting_port)) +
         pair("AccountingStorageType ", conf.accounting_dbd ? "accounting_storage/slurmdbd" : "") + pair("AuthType", conf.auth_type) +
         pair("MessageTimeout", std::to_string(conf.message_timeout_seconds) + " sec") +
         pair("SlurmUserId", conf.slurm_user + (uid ? "(" + std::to_string(uid->value) + ")" : "")) + pair("SLURM_CONF", conf.path) +
         pair("SLURM_VERSION", kSlurmVersion);
}

template <class Request>
bool told_daemon(Context& c) {
  Session* session = c.session();
  if (!session) return false;
  auto answer = session->call(Request{});
  if (!answer) c.complain(answer.error());
  return answer.has_value();
}

}  // namespace

void ping(Context& c, Words) {
  Session* session = c.session();
  if (!session) return;
  Result<rpc::Pong> pong = session->call(rpc::Ping{});
  if (!pong) return c.complain(pong.error());
  Out().line("slurmdbd(primary) at " + session->conf().accounting_host + " is UP");
}

void reconfigure(Context& c, Words) {
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
  std::string text = own_configuration(session->conf()) + "\nSlurmDBD configuration:\n";
  for (std::string_view line : split(answer->text, '\n')) {
    const size_t equals = line.find('=');
    if (equals != line.npos) text += pair(line.substr(0, equals), line.substr(equals + 1));
  }
  Out().put(text);
}

}  // namespace muster::cli
