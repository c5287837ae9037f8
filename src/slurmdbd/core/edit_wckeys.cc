// Workload keys: which a user may name on a cluster, and his default one. sacctmgr(1), guide wckey.
#include <algorithm>

#include "base/text.h"
#include "slurmdbd/core/editor.h"

namespace muster::slurmdbd {
namespace {

bool wanted(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

}  // namespace

bool Editor::has_wckey(const std::string& user, const std::string& key) const {
  return std::ranges::any_of(
      d_.wckeys, [&](const auto& e) { return !e.second.deleted && e.second.user == user && e.second.name == key; });
}

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
  if (user != d_.users.end() && user->second.default_wckey == key.name && !has_wckey(key.user, key.name)) {
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

// Each user chooses among his own; nobody gives a key by it.
Result<> Editor::set_default_wckey(UserRecord& user, const std::string& key) {
  if (user.name != context_.actor) MUSTER_TRY_VOID(need_operator("DefaultWCKey of others"));
  if (!key.empty() && !has_wckey(user.name, key))
    return fail(Errc::kInvalidWckey, "DefaultWCKey=" + key + ": user " + user.name + " does not have this wckey",
                "sacctmgr add user " + user.name + " WCKey=" + key + " gives it");
  user.default_wckey = key;
  return {};
}

}  // namespace muster::slurmdbd
