// scontrol show assoc_mgr: what the controller holds of users, associations and QOS. The filters of scontrol(1): users=, accounts=, qos=,
// flags=.
#include "fields/show_assoc_mgr.h"
#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/print_environment.h"
#include "cli/scontrol/context.h"
#include "model/assoc_mgr.h"
#include "os/users.h"

namespace muster::cli {
namespace {

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  for (std::string_view name : split(list, ','))
    if (!trim(name).empty()) out.emplace_back(trim(name));
  return out;
}

// False after a complaint.
bool read_flags(Context& c, std::string_view list, rpc::QueryAssocMgr& query) {
  query.show_users = query.show_associations = query.show_qos = false;
  for (std::string_view flag : split(list, ',')) {
    if (istarts_with("users", flag)) query.show_users = true;
    else if (istarts_with("associations", flag)) query.show_associations = true;
    else if (iequals("qos", flag)) query.show_qos = true;
    else return c.complain("invalid flag '" + std::string(flag) + "', valid options are 'Assoc, QOS, and/or Users'"), false;
  }
  return true;
}

bool read_filters(Context& c, Words words, rpc::QueryAssocMgr& query) {
  for (const std::string& word : words) {
    const std::string_view key = std::string_view(word).substr(0, word.find('='));
    const std::string_view value = key.size() < word.size() ? std::string_view(word).substr(key.size() + 1) : std::string_view();
    if (iequals(key, "users") || iequals(key, "user")) query.users = names_in(value);
    else if (iequals(key, "accounts") || iequals(key, "account")) query.accounts = names_in(value);
    else if (iequals(key, "qos")) query.qos = names_in(value);
    else if (!iequals(key, "flags")) return c.complain("invalid entity: " + word + " for keyword:show assoc_mgr"), false;
    else if (!read_flags(c, value, query)) return false;
  }
  return true;
}

// Each record on one line: the lines behind its first one are indented.
std::string on_one_line(const std::string& records) {
  std::string out;
  for (std::string_view line : split(records, '\n')) {
    if (!out.empty()) out += line.starts_with(' ') ? ' ' : '\n';
    out += trim(line);
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

// The records of one kind under their title, or that there are none.
void put_kind(Out& out, bool asked, bool one_line, std::string_view title, std::string_view what, const std::string& records) {
  if (!asked) return;
  const std::string gap = one_line ? "" : "\n";
  if (records.empty()) out.put(gap + "No " + std::string(what) + " currently cached in Slurm.\n" + gap);
  else out.put(gap + std::string(title) + " Records\n" + gap + (one_line ? on_one_line(records) : records));
}

}  // namespace

void show_assoc_mgr(Context& context, Words words) {
  rpc::QueryAssocMgr query;
  if (!read_filters(context, words, query)) return;
  Session* session = context.query_session();
  if (!session) return;
  Names names;
  const fields::AssocMgrNames known{.number_of =
                                        [](const std::string& user) {
                                          Result<os::User> u = os::find_user(user);
                                          return u ? std::to_string(u->uid.value) : std::string();
                                        },
                                    .user_of =
                                        [&](const std::string& uid) {
                                          const auto number = parse_number<uint32_t>(uid);
                                          return number ? names.user(Uid(*number)) : std::string();
                                        }};
  std::string users, associations, qos;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::AssocMgrRows&& part) -> Result<> {
    for (const UserRecord& u : part.users) fields::show_user_record(u, known, users);
    for (const AssociationUse& a : part.associations) fields::show_association(a, part.tres, known, associations);
    for (const QosUse& q : part.qos) fields::show_qos(q, part.tres, known, qos);
    return {};
  });
  if (!done) return context.complain("slurm_load_assoc_mgr_info error: ", done.error());
  Out out;
  out.put("Current Association Manager state\n");
  put_kind(out, query.show_users, context.options.oneliner, "User", "users", users);
  put_kind(out, query.show_associations, context.options.oneliner, "Association", "associations", associations);
  put_kind(out, query.show_qos, context.options.oneliner, "QOS", "QOS", qos);
}

}  // namespace muster::cli
