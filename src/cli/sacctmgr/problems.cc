#include "cli/sacctmgr/problems.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/sacctmgr/listing.h"
#include "fields/listed_objects.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

Result<rpc::Entities> accounts_and_users(Session& session) {
  rpc::Entities all;
  auto move = [](auto& to, auto& from) { std::ranges::move(from, std::back_inserter(to)); };
  for (Entity what : {Entity::kAccount, Entity::kUser, Entity::kAssociation}) {
    rpc::QueryEntities query;
    query.what = what;
    query.raw = true;
    MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
      move(all.accounts, part.accounts);
      move(all.users, part.users);
      move(all.associations, part.associations);
      return {};
    }));
  }
  return all;
}

}  // namespace

std::vector<fields::ProblemView> find_problems(const rpc::Entities& all, const std::function<bool(const std::string&)>& is_known) {
  std::set<std::string> accounts, users;  // that have associations
  for (const AssociationRecord& one : all.associations)
    (one.user.empty() ? accounts : users).insert(one.user.empty() ? one.account : one.user);
  std::vector<fields::ProblemView> out;
  for (const AccountRecord& account : all.accounts)
    if (!accounts.contains(account.name)) out.push_back({"", account.name, "", "Account has no Associations"});
  for (const UserRecord& user : all.users) {
    if (!users.contains(user.name)) out.push_back({"", "", user.name, "User has no Associations"});
    if (!is_known(user.name)) out.push_back({"", "", user.name, "User does not have a uid"});
  }
  return out;
}

void show_problems(Context& context, Words words) {
  std::string format;
  for (const Spec& spec : parse_specs(words)) {
    if (spec.key.empty() || !istarts_with("Format", spec.key)) return context.complain(" Unknown condition: " + spec.text);
    format = spec.value;
  }
  fields::Table<fields::ProblemView> table(table_style(context.options));
  if (!add_columns(context, table, fields::problem_fields(), format, fields::kProblemDefaultColumns)) return;
  Session* session = context.session();
  if (!session) return;
  const Result<rpc::Entities> all = accounts_and_users(*session);
  if (!all) return context.complain(all.error());
  Out out;
  Rows<fields::ProblemView> rows(context, session->conf(), table, "problems", fields::problem_object(), out);
  for (const auto& problem : find_problems(*all, [](const std::string& name) { return os::find_user(name).has_value(); }))
    rows.row(problem);
  rows.flush();
}

}  // namespace muster::cli
