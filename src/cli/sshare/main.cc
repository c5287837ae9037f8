// sshare: the tree of accounts and users with their shares and usage. sshare(1).
#include <unistd.h>

#include "base/text.h"
#include "cli/accounting/no_accounting.h"
#include "cli/common/document.h"
#include "cli/common/multifactor.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/common/settings_table.h"
#include "cli/sshare/print.h"
#include "os/users.h"

namespace muster::cli {
namespace {

constexpr const char* kQueryError = "Couldn't get shares from controller: ";

SettingsTable settings_of(const SshareOptions& o) {
  SettingsTable t;
  t.add("accounts", o.accounts);
  t.add("all", o.all_users);
  t.add("format", o.format);
  t.add("long", o.long_output);
  t.add("partition", o.partitions);
  t.add("users", o.users);
  t.add("Users", o.only_users);
  t.add_number("verbose", o.verbose);
  return t;
}

// Associations have the names of users: a number is looked up.
Result<TextList> names_of_users(const TextList& users) {
  TextList out;
  for (const std::string& user : users) {
    std::optional<uint32_t> number = parse_number<uint32_t>(user, 0, UINT32_MAX);
    if (!number) {
      out.push_back(user);
      continue;
    }
    Result<os::User> known = os::find_user(Uid{*number});
    if (!known) return fail(Errc::kUserIdMissing, "Invalid user: " + user);
    out.push_back(known->name);
  }
  return out;
}

std::string own_name() {
  Result<os::User> user = os::find_user(Uid{getuid()});
  return user ? user->name : std::string();
}

Result<> print_lines(Session& session, const SshareOptions& o, ShareFilter& filter, Out& out) {
  if (!o.clusters.empty() && !o.noheader) out.line("CLUSTER: " + session.conf().cluster_name);
  ShareLines lines(o, filter, session.conf().cluster_name);
  MUSTER_TRY_VOID(session.stream(rpc::QueryShares{}, [&](rpc::ShareRows&& part) -> Result<> {
    MUSTER_TRY_VOID(lines.add(part, out.buffer()));
    out.put("");
    return {};
  }));
  return lines.end(out.buffer());
}

Result<> print_document(Session& session, const SshareOptions& o, ShareFilter& filter, Out& out) {
  ShareTree tree(filter, session.conf().cluster_name);
  MUSTER_TRY_VOID(session.stream(rpc::QueryShares{}, [&](rpc::ShareRows&& part) -> Result<> {
    tree.add(std::move(part));
    return {};
  }));
  Document document(o.data, o, "shares", session.conf(), out);
  tree.write(document.sink());
  return {};
}

int list(Session& session, SshareOptions options, const os::CliLog& log) {
  Result<TextList> users = names_of_users(options.users);
  if (!users) {
    report(log, users.error());
    return 1;
  }
  options.users = std::move(*users);
  if (log.enabled(os::LogLevel::kVerbose)) settings_of(options).say();
  say_asking(log, session.conf());
  ShareFilter filter(options, own_name());
  Out out;
  const bool text = options.data.kind == DataOutput::Kind::kText;
  Result<> done = text ? print_lines(session, options, filter, out) : print_document(session, options, filter, out);
  out.flush();
  if (!done) {
    report(log, done.error(), kQueryError);
    return 1;
  }
  for (const std::string& name : filter.unknown()) log.info("warning: no association of the {} is known", name);
  return 0;
}

int run(int argc, char** argv) {
  os::CliLog log("sshare");
  QueryParse<SshareOptions> parse = parse_sshare(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kSshare, parse.messages, 1)) return *code;
  const SshareOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  if (options.helpformat) {
    Out().put(fields::share_help());
    return 0;
  }
  if (auto code = data_parser_asked(options.data, log)) return *code;
  if (auto table = share_table(options, true); !table) {
    log.error("Invalid field requested: \"{}\"", table.error().message());
    log.info("{}", (table.error().hint.empty() ? "" : table.error().hint + "; ") + "sshare --helpformat lists the fields");
    return 1;
  }
  std::optional<Session> session = find_session(Patience::kNone, options.clusters, log);
  if (!session) return 1;
  if (!session->conf().accounting_dbd) {
    put_error(kStorageDisabled);
    return 1;
  }
  return has_multifactor(session->conf(), log) ? list(*session, options, log) : 1;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
