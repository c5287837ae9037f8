// Which records an edit means. Each edit has a list of conditions that it honours; any other is refused by name, because an edit that
// ignored a condition would hit every record.
#include <algorithm>

#include "base/text.h"
#include "slurmdbd/core/editor.h"

namespace muster::slurmdbd {
namespace {

struct Honoured {
  Entity entity;
  bool add;                     // `where` names what to add; else what to change or delete
  std::string_view conditions;  // as given_in() names them
};
constexpr Honoured kHonoured[] = {
    {Entity::kAccount, true, "Accounts Clusters"},
    {Entity::kAccount, false, "Accounts Clusters Parent Description Organization Flags DefaultQOS Ids limits"},
    {Entity::kUser, true, "Users Accounts Clusters Partitions"},
    {Entity::kUser, false, "Users Accounts Clusters Partitions AdminLevel DefaultAccount DefaultWCKey DefaultQOS Ids limits WCKeys"},
    {Entity::kCoordinator, true, "Users Accounts"},
    {Entity::kCoordinator, false, "Users Accounts"},
    {Entity::kQos, true, "QOS"},
    {Entity::kQos, false, "QOS Ids Description Flags PreemptMode limits"},
    {Entity::kCluster, true, "Clusters"},
    {Entity::kCluster, false, "Clusters Classification DefaultQOS limits Federations"},
    {Entity::kWckey, true, "WCKeys Users Clusters"},
    {Entity::kWckey, false, "WCKeys Users Clusters"},
    {Entity::kResource, true, "Name Server Clusters TRES"},
    {Entity::kResource, false, "Name Server ServerType Clusters Description Ids TRES"},
    {Entity::kFederation, true, "Federations"},
    {Entity::kFederation, false, "Federations"},
};

// The names of the conditions that a filter sets.
std::vector<std::string_view> given_in(const EntityFilter& where) {
  std::vector<std::string_view> out;
  auto say = [&](std::string_view name, bool given) {
    if (given) out.push_back(name);
  };
  say("Accounts", !where.accounts.empty());
  say("Clusters", !where.clusters.empty());
  say("Users", !where.users.empty());
  say("Partitions", !where.partitions.empty());
  say("Parent", !where.parents.empty());
  say("QOS", !where.qos.empty());
  say("WCKeys", !where.wckeys.empty());
  say("Description", !where.descriptions.empty());
  say("Organization", !where.organizations.empty());
  say("DefaultAccount", !where.default_accounts.empty());
  say("DefaultWCKey", !where.default_wckeys.empty());
  say("DefaultQOS", !where.default_qos.empty());
  say("Flags", !where.flags.empty());
  say("PreemptMode", !where.preempt_modes.empty());
  say("Ids", !where.ids.empty());
  say("TRES", !where.tres.empty());
  say("limits", !where.limits.empty());
  say("AdminLevel", where.admin_level.has_value());
  say("Classification", !where.classifications.empty());
  say("Action", !where.actions.empty());
  say("Actor", !where.actors.empty());
  say("Start", where.from != kTimeUnset);
  say("End", where.until != kTimeUnset);
  say("Name", !where.names.empty());
  say("Server", !where.servers.empty());
  say("ServerType", !where.server_types.empty());
  say("Federations", !where.federations.empty());
  say("WithDeleted", where.with_deleted);
  say("WithSubAccounts", where.with_sub_accounts);
  say("OnlyDefaults", where.only_defaults);
  return out;
}

template <class T>
bool wanted(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}
bool any_wanted(const std::vector<std::string>& list, const std::vector<std::string>& values) {
  return list.empty() || std::ranges::any_of(values, [&](const std::string& v) { return wanted(list, v); });
}
bool has_limits(const std::vector<Limit>& asked, const std::vector<Limit>& set) {
  return std::ranges::all_of(asked, [&](const Limit& l) { return find_limit(set, l.kind, l.tres) == l.value; });
}

}  // namespace

Result<> Editor::check_conditions() const {
  auto row = std::ranges::find_if(kHonoured,
                                  [&](const Honoured& h) { return h.entity == edit_.entity && h.add == (edit_.verb == EditVerb::kAdd); });
  if (row == std::end(kHonoured)) return {};  // editing this kind of noun is refused elsewhere
  std::vector<std::string_view> honoured = split(row->conditions, ' ');
  for (std::string_view name : given_in(edit_.where))
    if (std::ranges::find(honoured, name) == honoured.end())
      return fail(Errc::kError, std::string(name) + " is no condition of this edit", "its conditions are: " + std::string(row->conditions));
  return {};
}

bool Editor::meets(const AccountRecord& a) const {
  const EntityFilter& w = edit_.where;
  return !a.deleted && wanted(w.accounts, a.name) && wanted(w.descriptions, a.description) && wanted(w.organizations, a.organization) &&
         any_wanted(w.flags, a.flags);
}

bool Editor::meets(const UserRecord& u) const {
  const EntityFilter& w = edit_.where;
  return !u.deleted && wanted(w.users, u.name) && wanted(w.default_wckeys, u.default_wckey) &&
         (!w.admin_level || *w.admin_level == u.admin_level);
}

bool Editor::meets(const QosRecord& q) const {
  const EntityFilter& w = edit_.where;
  return !q.deleted && wanted(w.qos, q.name) && wanted(w.ids, q.id) && wanted(w.descriptions, q.description) &&
         any_wanted(w.flags, q.flags) && wanted(w.preempt_modes, q.preempt_mode.text()) && has_limits(w.limits, q.limits);
}

bool Editor::meets(const ClusterRecord& c) const {
  const EntityFilter& w = edit_.where;
  const Association* root = d_.association(c.name, "root");
  return !c.deleted && wanted(w.clusters, c.name) && wanted(w.classifications, c.classification) && root &&
         wanted(w.default_qos, root->default_qos) && has_limits(w.limits, root->limits);
}

bool Editor::meets(const Association& a) const {
  const EntityFilter& w = edit_.where;
  auto up = d_.associations.find(a.parent_id);
  return !a.deleted && wanted(w.accounts, a.account) && wanted(w.clusters, a.cluster) && wanted(w.ids, a.id) &&
         wanted(w.default_qos, a.default_qos) && wanted(w.parents, up == d_.associations.end() ? std::string() : up->second.account) &&
         has_limits(w.limits, a.limits) && (a.user.empty() || (wanted(w.users, a.user) && wanted(w.partitions, a.partition)));
}

bool Editor::default_meets(const std::string& user, const std::string& cluster) const {
  const auto& accounts = edit_.where.default_accounts;
  return accounts.empty() || std::ranges::any_of(d_.associations, [&](const auto& e) {
           const Association& a = e.second;
           return a.is_default && !a.deleted && a.user == user && a.cluster == cluster && wanted(accounts, a.account);
         });
}

std::vector<uint32_t> Editor::matching(bool of_users) const {
  std::vector<uint32_t> out;
  for (const auto& [id, a] : d_.associations) {
    if (a.user.empty() == of_users || !meets(a)) continue;
    const UserRecord* user = of_users ? find_live(d_.users, a.user) : nullptr;
    const AccountRecord* account = of_users ? nullptr : find_live(d_.accounts, a.account);
    if (of_users ? user && meets(*user) && default_meets(a.user, a.cluster) : account && meets(*account)) out.push_back(id);
  }
  return out;
}

bool Editor::asks_of_associations(bool of_users) const {
  const EntityFilter& w = edit_.where;
  return !w.clusters.empty() || !w.parents.empty() || !w.ids.empty() || !w.default_qos.empty() || !w.limits.empty() ||
         (of_users && (!w.accounts.empty() || !w.partitions.empty() || !w.default_accounts.empty()));
}

std::set<std::string> Editor::users_meant() const {
  std::set<std::string> out;
  if (asks_of_associations(true))
    for (uint32_t id : matching(true)) out.insert(d_.associations.at(id).user);
  else
    for (const auto& [name, u] : d_.users)
      if (meets(u)) out.insert(name);
  return out;
}

std::set<std::string> Editor::accounts_meant() const {
  std::set<std::string> out;
  if (asks_of_associations(false))
    for (uint32_t id : matching(false)) out.insert(d_.associations.at(id).account);
  else
    for (const auto& [name, a] : d_.accounts)
      if (meets(a)) out.insert(name);
  return out;
}

}  // namespace muster::slurmdbd
