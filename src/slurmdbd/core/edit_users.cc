// Users, their associations and their workload keys. sacctmgr(1), guide wckey.
#include <algorithm>

#include "base/text.h"
#include "slurmdbd/core/editor.h"

namespace muster::slurmdbd {
namespace {

bool wanted(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

// On any cluster.
bool has_wckey(const Directory& directory, const std::string& user, const std::string& key) {
  return std::ranges::any_of(directory.wckeys,
                             [&](const auto& e) { return !e.second.deleted && e.second.user == user && e.second.name == key; });
}

}  // namespace

Result<> Editor::add_users() {
  if (edit_.where.users.empty()) return fail(Errc::kError, "User: name those to add");
  if (edit_.set.admin_level) MUSTER_TRY_VOID(need_operator("AdminLevel"));
  if (edit_.set.admin_level == AdminLevel::kAdministrator && context_.level < AdminLevel::kAdministrator)
    return fail(Errc::kAccessDenied, {}, "AdminLevel=Administrator is given by administrators alone");
  for (const std::string& name : edit_.where.users) MUSTER_TRY_VOID(add_user(name));
  return {};
}

Result<> Editor::add_user(const std::string& name) {
  const EntityChange& set = edit_.set;
  const bool fresh = !find_live(d_.users, name);
  std::vector<std::string> accounts = edit_.where.accounts;
  if (accounts.empty() && set.default_account) accounts.push_back(*set.default_account);
  if (accounts.empty() && fresh)
    return fail(Errc::kError, "User " + name + ": a new user needs Account=", "sacctmgr add user " + name + " Account=ACCOUNT");
  if (fresh && set.default_account && std::ranges::find(accounts, *set.default_account) == accounts.end())
    accounts.push_back(*set.default_account);
  MUSTER_TRY(on, clusters());
  std::vector<std::string> partitions = edit_.where.partitions;
  if (partitions.empty()) partitions.push_back("");
  bool any = false;
  for (const std::string& account : accounts) {
    if (!find_live(d_.accounts, account))
      return fail(Errc::kInvalidAccount, "Account '" + account + "' is not known", "sacctmgr add account " + account + " makes it");
    for (const std::string& cluster : on) {
      const Association* above = index_.find(cluster, account);
      if (!above || above->deleted) {
        if (edit_.where.clusters.empty()) continue;
        return fail(Errc::kInvalidAccount, "Account '" + account + "' is not on cluster " + cluster,
                    "sacctmgr add account " + account + " Cluster=" + cluster + " puts it there");
      }
      MUSTER_TRY_VOID(may_edit(cluster, account));
      any = true;
      for (const std::string& partition : partitions) {
        const Association* known = index_.find(cluster, account, name, partition);
        if (known && !known->deleted) continue;
        const bool has_default = index_.has_default(name, cluster);
        Association& a = new_association(cluster, account, name, partition, above->id);
        const bool wanted_default =
            set.default_account ? *set.default_account == account : fresh || !context_.settings.no_default_account_needed;
        a.is_default = !has_default && wanted_default;
        MUSTER_TRY_VOID(change_association(a));
        changed_.associations.push_back(a);
      }
    }
  }
  if (!accounts.empty() && !any) return fail(Errc::kInvalidAccount, "Account '" + accounts.front() + "' is on no cluster that is meant");
  if (fresh) {
    UserRecord& user = d_.users[name];
    Time created = user.created;
    user = {};
    user.name = name;
    user.admin_level = set.admin_level.value_or(AdminLevel::kNone);
    user.created = created == kTimeUnset ? context_.now : created;
    user.modified = context_.now;
    touch(touched_, user);
    UserRecord shown = user;
    shown.default_account = set.default_account.value_or(accounts.front());
    shown.default_wckey = set.default_wckey.value_or("");
    changed_.users.push_back(std::move(shown));
  }
  return set.default_wckey && !set.default_wckey->empty() ? begin_with_wckey(name, *set.default_wckey, on) : Result<>();
}

Result<> Editor::modify_users() {
  const EntityFilter& where = edit_.where;
  const EntityChange& set = edit_.set;
  if (!where.wckeys.empty()) return fail(Errc::kError, "WCKeys is no condition of this edit", "it is one of delete user");
  if (set.new_name) {
    MUSTER_TRY_VOID(need_operator("renaming a user"));
    if (where.users.size() != 1) return fail(Errc::kOneChangeAtATime, "NewName needs exactly one user");
    if (find_live(d_.users, where.users[0]) && !users_meant().contains(where.users[0])) return {};
    return rename_user(where.users[0], *set.new_name);
  }
  const std::vector<uint32_t> associations_meant = matching(true);  // found before any of them changes
  if (set.admin_level || set.default_wckey || set.default_account) {
    for (const std::string& name : users_meant()) {
      UserRecord& user = d_.users.at(name);
      const auto [level, wckey] = std::pair(user.admin_level, user.default_wckey);
      if (set.admin_level) {
        MUSTER_TRY_VOID(need_operator("AdminLevel"));
        bool top = *set.admin_level == AdminLevel::kAdministrator || user.admin_level == AdminLevel::kAdministrator;
        if (top && context_.level < AdminLevel::kAdministrator)
          return fail(Errc::kAccessDenied, {}, "AdminLevel of administrators is changed by administrators alone");
        user.admin_level = *set.admin_level;
      }
      if (set.default_wckey) MUSTER_TRY_VOID(set_default_wckey(user, *set.default_wckey));
      if (set.default_account) MUSTER_TRY_VOID(set_default_account(name, *set.default_account));
      if (user.admin_level != level || user.default_wckey != wckey) {
        user.modified = context_.now;
        touch(touched_, user);
      }
      UserRecord shown = user;
      if (set.default_account) shown.default_account = *set.default_account;
      changed_.users.push_back(std::move(shown));
    }
  }
  if (!changes_associations()) return {};
  if (set.parent) return fail(Errc::kError, "Parent is of accounts; a user's association has its account above it");
  for (uint32_t id : associations_meant) {
    Association& a = d_.associations.at(id);
    MUSTER_TRY_VOID(may_edit(a.cluster, a.account));
    MUSTER_TRY(different, change_association(a));
    if (!different) continue;
    touch(touched_, a);
    changed_.associations.push_back(a);
  }
  return {};
}

Result<> Editor::set_default_account(const std::string& user, const std::string& account) {
  MUSTER_TRY(on, clusters());
  bool found = false;
  for (const std::string& cluster : on) {
    if (!default_meets(user, cluster)) continue;
    bool has = std::ranges::any_of(d_.associations, [&](const auto& e) {
      return !e.second.deleted && e.second.user == user && e.second.cluster == cluster && e.second.account == account;
    });
    if (!has) continue;
    found = true;
    if (user != context_.actor) MUSTER_TRY_VOID(may_edit(cluster, account));
    for (auto& [id, a] : d_.associations) {
      if (a.deleted || a.user != user || a.cluster != cluster || a.is_default == (a.account == account)) continue;
      a.is_default = a.account == account;
      a.modified = context_.now;
      touch(touched_, a);
    }
  }
  if (found) return {};
  return fail(Errc::kInvalidAccount, "DefaultAccount=" + account + ": user " + user + " has no association with it",
              "sacctmgr add user " + user + " Account=" + account + " makes one");
}

Result<> Editor::rename_user(const std::string& from, const std::string& to) {
  if (!find_live(d_.users, from)) return fail(Errc::kNotFound, "User '" + from + "' is not known");
  if (from == to) return {};
  if (find_live(d_.users, to)) return fail(Errc::kError, "NewName=" + to + ": there is such a user already");
  if (from == "root") return fail(Errc::kError, "User root cannot be renamed");
  UserRecord user = d_.users.at(from);
  touch(touched_, user);
  d_.users.erase(from);
  user.name = to;
  user.modified = context_.now;
  touch(touched_, user);
  d_.users[to] = user;
  changed_.users.push_back(user);
  for (auto& [id, a] : d_.associations) {
    if (a.user != from) continue;
    a.user = to;
    touch(touched_, a);
  }
  for (auto& [id, k] : d_.wckeys) {
    if (k.user != from) continue;
    k.user = to;
    touch(touched_, k);
  }
  return {};
}

Result<> Editor::remove_users() {
  const EntityFilter& where = edit_.where;
  if (!where.wckeys.empty()) {  // `delete user u wckey=w` takes the wckey from the user, and nothing else
    MUSTER_TRY_VOID(need_operator("editing wckeys"));
    if (where.users.empty()) return fail(Errc::kError, "WCKeys: name the users who have them");
    return remove_wckeys();
  }
  if (where.users.empty() && where.accounts.empty() && !where.admin_level && where.default_accounts.empty() && where.default_wckeys.empty())
    return fail(Errc::kError, "delete user needs a condition: which ones");
  auto in = [](const auto& list, const std::string& v) { return list.empty() || std::ranges::find(list, v) != list.end(); };
  std::vector<uint32_t> gone;
  for (uint32_t id : matching(true)) {
    const Association& a = d_.associations.at(id);
    if (!where.default_accounts.empty() && !(a.is_default && in(where.default_accounts, a.account))) continue;
    if (a.user == "root") return fail(Errc::kError, "User root cannot be deleted");
    MUSTER_TRY_VOID(may_edit(a.cluster, a.account));
    gone.push_back(id);
  }
  MUSTER_TRY_VOID(refuse_if_used(gone));
  MUSTER_TRY_VOID(refuse_default(gone));
  std::set<std::string> users;
  for (uint32_t id : gone) {
    users.insert(d_.associations.at(id).user);
    MUSTER_TRY_VOID(remove_association(id));
  }
  const bool whole = !asks_of_associations(true);
  for (const std::string& name : where.users) {
    const UserRecord* u = find_live(d_.users, name);
    if (!whole || !u || !meets(*u)) continue;
    if (!users.contains(name)) MUSTER_TRY_VOID(need_operator("deleting a user without associations"));
    users.insert(name);
  }
  for (const std::string& name : users) {
    bool still = std::ranges::any_of(d_.associations, [&](const auto& e) { return !e.second.deleted && e.second.user == name; });
    auto at = d_.users.find(name);
    if (still || at == d_.users.end() || at->second.deleted) continue;
    if (name == "root") return fail(Errc::kError, "User root cannot be deleted");
    changed_.users.push_back(at->second);
    touch(touched_, at->second);
    std::vector<uint32_t> keys;
    for (const auto& [id, k] : d_.wckeys)
      if (k.user == name && !k.deleted) keys.push_back(id);
    for (uint32_t id : keys) MUSTER_TRY_VOID(remove_wckey(id));
    bool kept = std::ranges::any_of(d_.associations, [&](const auto& e) { return e.second.user == name; });
    if (!kept && context_.now - at->second.created < kForgottenWithin) {
      d_.users.erase(at);
      continue;
    }
    at->second.deleted = true;
    at->second.coordinator_of.clear();
    at->second.admin_level = AdminLevel::kNone;
    at->second.modified = context_.now;
  }
  return {};
}

// ---- workload keys: which a user may name on a cluster, and his default one
void Editor::add_wckey(const std::string& user, const std::string& cluster, const std::string& key) {
  const auto known = std::ranges::find_if(
      d_.wckeys, [&](const auto& e) { return e.second.name == key && e.second.user == user && e.second.cluster == cluster; });
  if (known != d_.wckeys.end() && !known->second.deleted) return;
  WckeyRecord k;
  k.id = known != d_.wckeys.end() ? known->first : ++d_.last_id;
  k.name = key;
  k.user = user;
  k.cluster = cluster;
  k.created = known != d_.wckeys.end() ? known->second.created : context_.now;
  touch(touched_, k);
  changed_.wckeys.push_back(k);
  d_.wckeys[k.id] = std::move(k);
}

Result<> Editor::edit_wckeys() {
  MUSTER_TRY_VOID(need_operator("editing wckeys"));
  const EntityFilter& where = edit_.where;
  if (edit_.verb == EditVerb::kModify) return fail(Errc::kError, "wckeys are added and deleted, not modified");
  if (where.wckeys.empty()) return fail(Errc::kError, "WCKeys: name them");
  if (edit_.verb == EditVerb::kDelete) return remove_wckeys();
  if (where.users.empty()) return fail(Errc::kError, "User: name those who get the wckeys");
  MUSTER_TRY(on, clusters());
  for (const std::string& user : where.users) {
    if (!find_live(d_.users, user))
      return fail(Errc::kNotFound, "User '" + user + "' is not known", "sacctmgr add user " + user + " Account=… adds him");
    for (const std::string& cluster : on)
      for (const std::string& key : where.wckeys) add_wckey(user, cluster, key);
  }
  return {};
}

Result<> Editor::remove_wckeys() {
  const EntityFilter& where = edit_.where;
  std::vector<uint32_t> gone;
  for (const auto& [id, k] : d_.wckeys)
    if (!k.deleted && wanted(where.wckeys, k.name) && wanted(where.users, k.user) && wanted(where.clusters, k.cluster)) gone.push_back(id);
  for (uint32_t id : gone) MUSTER_TRY_VOID(remove_wckey(id));
  return {};
}

// What was never used and is young leaves no trace. Whoever has the key nowhere any more does not keep it as his default one.
Result<> Editor::remove_wckey(uint32_t id) {
  WckeyRecord& key = d_.wckeys.at(id);
  changed_.wckeys.push_back(key);
  touch(touched_, key);
  key.deleted = true;
  auto user = d_.users.find(key.user);
  if (user != d_.users.end() && user->second.default_wckey == key.name && !has_wckey(d_, key.user, key.name)) {
    user->second.default_wckey.clear();
    user->second.modified = context_.now;
    touch(touched_, user->second);
  }
  if (context_.now - key.created >= kForgottenWithin) return {};
  rpc::JobRecordFilter filter;
  filter.clusters = {key.cluster};
  filter.wckeys = {key.name};
  filter.from = key.created;
  MUSTER_TRY(used, context_.any_job(filter, key.user, ""));
  if (!used) d_.wckeys.erase(id);
  return {};
}

// A user who is added has the key that is to be his default one. Whoever was there already may have had it, and is told of it all the same.
Result<> Editor::begin_with_wckey(const std::string& name, const std::string& key, const std::vector<std::string>& on) {
  MUSTER_TRY_VOID(need_operator("DefaultWCKey of a user who is added"));
  for (const std::string& cluster : on) add_wckey(name, cluster, key);
  UserRecord& user = d_.users.at(name);
  if (user.default_wckey == key) return {};
  touch(touched_, user);
  user.modified = context_.now;
  if (std::ranges::find(changed_.wckeys, name, &WckeyRecord::user) == changed_.wckeys.end())
    for (const auto& [id, k] : d_.wckeys)
      if (!k.deleted && k.user == name && k.name == key && wanted(on, k.cluster)) changed_.wckeys.push_back(k);
  return set_default_wckey(user, key);
}

// Each user chooses among his own; nobody gives a key by it.
Result<> Editor::set_default_wckey(UserRecord& user, const std::string& key) {
  if (user.name != context_.actor) MUSTER_TRY_VOID(need_operator("DefaultWCKey of others"));
  if (!key.empty() && !has_wckey(d_, user.name, key))
    return fail(Errc::kInvalidWckey, "DefaultWCKey=" + key + ": user " + user.name + " does not have this wckey",
                "sacctmgr add user " + user.name + " WCKey=" + key + " gives it");
  user.default_wckey = key;
  return {};
}

}  // namespace muster::slurmdbd
