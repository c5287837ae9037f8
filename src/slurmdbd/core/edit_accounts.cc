// Accounts, and who coordinates them.
#include <algorithm>

#include "base/text.h"
#include "model/entity_flags.h"
#include "slurmdbd/core/editor.h"

namespace muster::slurmdbd {
namespace {

// Of accounts, root included: whoever answers about the tree goes down it account by account, and names all those above.
constexpr size_t kMostDepth = 100;

size_t depth_of(const Directory& directory, uint32_t id) {
  size_t depth = 0;
  for (auto at = directory.associations.find(id); at != directory.associations.end() && depth <= directory.associations.size(); ++depth)
    at = directory.associations.find(at->second.parent_id);
  return depth;
}

Result<> check_depth(const std::string& parent, size_t depth) {
  if (depth <= kMostDepth) return {};
  return fail(Errc::kInvalidParentAccount, "Parent=" + parent + ": accounts stand at most " + std::to_string(kMostDepth) + " deep");
}

// One flag is kept; the other word takes it away.
Result<std::vector<NamesChange>> flag_changes(std::vector<NamesChange> changes) {
  for (NamesChange& change : changes)
    for (std::string& word : change.names) {
      const bool without = iequals(word, "NoUsersAreCoords");
      if (!without && !iequals(word, kUsersAreCoords))
        return fail(Errc::kError, "Flags='" + word + "': is one of " + std::string(kUsersAreCoords) + ", NoUsersAreCoords");
      if (without && change.op == ChangeOp::kSubtract) return fail(Errc::kError, "Flags-=NoUsersAreCoords: it is never set");
      if (without && change.names.size() > 1) return fail(Errc::kError, "Flags: NoUsersAreCoords stands alone");
      word = kUsersAreCoords;
      if (without) change.op = ChangeOp::kSubtract;
    }
  return changes;
}

}  // namespace

Result<> Editor::add_accounts() {
  if (edit_.where.accounts.empty()) return fail(Errc::kError, "Account: name those to add");
  MUSTER_TRY(on, clusters());
  const std::string parent = edit_.set.parent.value_or("root");
  MUSTER_TRY(flags, flag_changes(edit_.set.flags));
  if (!flags.empty()) MUSTER_TRY_VOID(need_operator("the flags of an account"));
  for (const std::string& name : edit_.where.accounts) {
    if (parent == name) return fail(Errc::kInvalidParentAccount, "Parent=" + parent + ": an account is not its own parent");
    if (!find_live(d_.accounts, name)) {
      for (const std::string& cluster : on) MUSTER_TRY_VOID(may_edit(cluster, parent));
      AccountRecord& a = d_.accounts[name];
      Time created = a.created;
      a = {};
      a.name = name;
      a.description = edit_.set.description.value_or(name);
      a.organization = edit_.set.organization.value_or(parent == "root" ? name : parent);
      a.created = created == kTimeUnset ? context_.now : created;
      a.modified = context_.now;
      MUSTER_TRY_VOID(change_names(a.flags, flags));
      touch(touched_, a);
      changed_.accounts.push_back(a);
    }
    for (const std::string& cluster : on) {
      const Association* known = index_.find(cluster, name);
      if (known && !known->deleted) continue;
      const Association* above = index_.find(cluster, parent);
      if (!above || above->deleted)
        return fail(Errc::kInvalidParentAccount, "Parent=" + parent + ": there is no such account on cluster " + cluster,
                    "sacctmgr add account " + parent + " makes it");
      MUSTER_TRY_VOID(may_edit(cluster, parent));
      if (known) MUSTER_TRY_VOID(may_edit(cluster, name));  // with an account that was deleted its old jobs come back
      uint32_t above_id = above->id;
      MUSTER_TRY_VOID(check_depth(parent, depth_of(d_, above_id) + 1));
      Association& a = new_association(cluster, name, "", "", above_id);
      MUSTER_TRY_VOID(change_association(a));
      changed_.associations.push_back(a);
    }
  }
  return {};
}

Result<> Editor::modify_accounts() {
  const EntityChange& set = edit_.set;
  const std::vector<uint32_t> associations_meant = matching(false);  // found before any of them changes
  if (set.description || set.organization || !set.flags.empty()) {
    MUSTER_TRY_VOID(need_operator("changing the description, organization or flags of an account"));
    MUSTER_TRY(flags, flag_changes(set.flags));
    for (const std::string& name : accounts_meant()) {
      AccountRecord& a = d_.accounts.at(name);
      AccountRecord next = a;
      if (set.description) next.description = *set.description;
      if (set.organization) next.organization = *set.organization;
      MUSTER_TRY_VOID(change_names(next.flags, flags));
      if (next.description == a.description && next.organization == a.organization && next.flags == a.flags) continue;
      next.modified = context_.now;
      a = next;
      touch(touched_, a);
      changed_.accounts.push_back(a);
    }
  }
  if (!changes_associations()) return {};
  for (uint32_t id : associations_meant) {
    Association& association = d_.associations.at(id);
    if (association.account == "root" && edit_.where.accounts.empty())
      continue;  // the cluster's own root account is meant only when it is named
    MUSTER_TRY_VOID(may_edit(association.cluster, association.account));
    MUSTER_TRY(different, change_association(association));
    if (set.parent && d_.associations.at(id).parent_id != 0) {
      uint32_t before = association.parent_id;
      MUSTER_TRY_VOID(move_account(id, *set.parent));
      different = different || before != association.parent_id;
    }
    if (!different) continue;
    touch(touched_, association);
    changed_.associations.push_back(association);
  }
  return {};
}

Result<> Editor::move_account(uint32_t id, const std::string& parent) {
  Association& association = d_.associations.at(id);
  const Association* above = d_.association(association.cluster, parent);
  if (!above || above->deleted)
    return fail(Errc::kInvalidParentAccount, "Parent=" + parent + ": there is no such account on cluster " + association.cluster);
  if (above->id == association.parent_id) return {};
  std::vector<uint32_t> own = d_.below(id);
  if (std::ranges::find(own, above->id) != own.end())
    return fail(
        Errc::kInvalidParentAccount,
        "Parent=" + parent + ": it is " + (parent == association.account ? "the account itself" : "below account " + association.account));
  MUSTER_TRY_VOID(may_edit(association.cluster, parent));
  size_t deepest = 0;
  for (uint32_t below : own)
    if (d_.associations.at(below).user.empty()) deepest = std::max(deepest, depth_of(d_, below));
  MUSTER_TRY_VOID(check_depth(parent, depth_of(d_, above->id) + 1 + deepest - depth_of(d_, id)));
  association.parent_id = above->id;
  association.modified = context_.now;
  return {};
}

Result<> Editor::remove_accounts() {
  if (edit_.where.accounts.empty() && edit_.where.organizations.empty() && edit_.where.descriptions.empty() && edit_.where.parents.empty())
    return fail(Errc::kError, "delete account needs a condition: which ones");
  std::vector<uint32_t> gone;
  for (uint32_t id : matching(false)) {
    const Association& a = d_.associations.at(id);
    if (a.account == "root") return fail(Errc::kError, "Account root cannot be deleted: it is the root of each cluster's tree");
    const Association& above = d_.associations.at(a.parent_id);
    MUSTER_TRY_VOID(may_edit(a.cluster, above.account));
    for (uint32_t below : d_.below(id))
      if (!d_.associations.at(below).deleted && std::ranges::find(gone, below) == gone.end()) gone.push_back(below);
  }
  MUSTER_TRY_VOID(refuse_if_used(gone));
  MUSTER_TRY_VOID(refuse_default(gone));
  std::set<std::string> accounts;
  for (uint32_t id : gone) {
    accounts.insert(d_.associations.at(id).account);
    MUSTER_TRY_VOID(remove_association(id));
  }
  if (!edit_.where.accounts.empty() && !asks_of_associations(false)) accounts.merge(accounts_meant());  // accounts that are on no cluster
  for (const std::string& name : accounts) {
    bool still = std::ranges::any_of(d_.associations, [&](const auto& e) { return !e.second.deleted && e.second.account == name; });
    auto at = d_.accounts.find(name);
    if (still || at == d_.accounts.end() || at->second.deleted) continue;
    changed_.accounts.push_back(at->second);
    touch(touched_, at->second);
    for (auto& [user, u] : d_.users)
      if (std::erase(u.coordinator_of, name)) touch(touched_, u);
    bool kept = std::ranges::any_of(d_.associations, [&](const auto& e) { return e.second.account == name; });
    if (!kept && context_.now - at->second.created < kForgottenWithin) {
      d_.accounts.erase(at);
      continue;
    }
    at->second.deleted = true;
    at->second.modified = context_.now;
  }
  return {};
}

Result<> Editor::edit_coordinators() {
  const EntityFilter& where = edit_.where;
  if (edit_.verb == EditVerb::kModify) return fail(Errc::kError, "coordinators are added and deleted, not modified");
  if (where.users.empty() || (where.accounts.empty() && edit_.verb == EditVerb::kAdd))
    return fail(Errc::kError, "a coordinator needs Names= and Account=");
  for (const std::string& account : where.accounts) {
    if (!find_live(d_.accounts, account)) return fail(Errc::kInvalidAccount, "Account '" + account + "' is not known");
    bool may = is_operator() || std::ranges::any_of(d_.clusters, [&](const auto& c) { return coordinates(c.first, account); });
    if (!may) MUSTER_TRY_VOID(need_operator("naming coordinators of account " + account));
  }
  if (where.accounts.empty()) MUSTER_TRY_VOID(need_operator("taking coordinators from all accounts"));
  std::set<std::string> accounts;
  for (const std::string& name : where.users) {
    if (!find_live(d_.users, name))
      return fail(Errc::kNotFound, "User '" + name + "' is not known", "sacctmgr add user " + name + " Account=… adds him");
    UserRecord& user = d_.users.at(name);
    std::vector<std::string> before = user.coordinator_of;
    for (const std::string& account : where.accounts.empty() ? before : where.accounts) {
      bool is = std::ranges::find(user.coordinator_of, account) != user.coordinator_of.end();
      if (is == (edit_.verb == EditVerb::kAdd)) continue;
      if (is) std::erase(user.coordinator_of, account);
      else user.coordinator_of.push_back(account);
      accounts.insert(account);
    }
    if (before == user.coordinator_of) continue;
    std::ranges::sort(user.coordinator_of);
    touch(touched_, user);
    changed_.users.push_back(user);
  }
  for (const std::string& account : accounts) {
    AccountRecord a = d_.accounts.at(account);
    for (const auto& [name, u] : d_.users)
      if (!u.deleted && std::ranges::find(u.coordinator_of, account) != u.coordinator_of.end()) a.coordinators.push_back(name);
    changed_.accounts.push_back(std::move(a));
  }
  return {};
}

}  // namespace muster::slurmdbd
