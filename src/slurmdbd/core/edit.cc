#include "slurmdbd/core/edit.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/transaction_names.h"
#include "slurmdbd/core/editor.h"
#include "slurmdbd/core/federations.h"
#include "slurmdbd/core/names.h"
#include "slurmdbd/core/refusals.h"

namespace muster::slurmdbd {
namespace {

constexpr size_t kMostEdits = 10'000;

void lower(std::optional<std::string>& name) {
  if (name) name = to_lower(*name);
}
void lower(std::vector<NamesChange>& changes) {
  for (NamesChange& c : changes) slurmdbd::lower(c.names);
}

std::string quoted(const char* key, const std::vector<std::string>& names) {
  return names.empty() ? "" : std::string(key) + "='" + join(names, ",") + "' ";
}

// Names the accounts, clusters and users that an edit touched. sacctmgr(1) transaction, WithAssoc.
void say_affected(const rpc::Entities& changed, TransactionRecord& transaction) {
  std::set<std::string> accounts, clusters, users;
  for (const auto& a : changed.associations) {
    accounts.insert(a.account);
    clusters.insert(a.cluster);
    if (!a.user.empty()) users.insert(a.user);
  }
  for (const auto& a : changed.accounts) accounts.insert(a.name);
  for (const auto& c : changed.clusters) clusters.insert(c.name);
  for (const auto& u : changed.users) users.insert(u.name);
  for (const auto& k : changed.wckeys) {
    clusters.insert(k.cluster);
    users.insert(k.user);
  }
  for (const auto& r : changed.resources)
    for (const ResourceShare& share : r.clusters) clusters.insert(share.cluster);
  transaction.accounts.assign(accounts.begin(), accounts.end());
  transaction.clusters.assign(clusters.begin(), clusters.end());
  transaction.users.assign(users.begin(), users.end());
}

TransactionRecord transaction_of(const EntityEdit& edit, const rpc::Entities& changed, const EditContext& context) {
  TransactionRecord transaction;
  transaction.time = context.now;
  transaction.actor = context.actor;
  transaction.action = transaction_action(edit.verb, edit.entity);
  transaction.where = quoted("cluster", edit.where.clusters) + quoted("acct", edit.where.accounts) + quoted("user", edit.where.users) +
                      quoted("partition", edit.where.partitions) + quoted("qos", edit.where.qos) + quoted("wckey", edit.where.wckeys) +
                      quoted("name", edit.where.names) + quoted("server", edit.where.servers) +
                      quoted("federation", edit.where.federations);
  auto say = [&](const char* key, const std::optional<std::string>& value) {
    if (value) transaction.info += std::string(key) + "='" + *value + "' ";
  };
  say("description", edit.set.description);
  say("organization", edit.set.organization);
  say("parent", edit.set.parent);
  say("default_acct", edit.set.default_account);
  say("def_qos", edit.set.default_qos);
  say("def_wckey", edit.set.default_wckey);
  say("newname", edit.set.new_name);
  say("servertype", edit.set.server_type);
  say("federation", edit.set.federation);
  say("fedstate", edit.set.fed_state);
  for (const auto& [key, value] :
       {std::pair("count", edit.set.count), std::pair("lastconsumed", edit.set.last_consumed), std::pair("allowed", edit.set.allowed)})
    if (value) transaction.info += std::string(key) + "=" + std::to_string(*value) + " ";
  for (const LimitChange& l : edit.set.limits)
    for (const LimitInfo& info : kLimits)
      if (info.kind == l.kind)
        transaction.info += to_lower(info.name) + (l.tres.empty() ? "" : ":" + l.tres) +
                            (l.op == ChangeOp::kAdd        ? "+="
                             : l.op == ChangeOp::kSubtract ? "-="
                                                           : "=") +
                            (l.op == ChangeOp::kClear ? "-1" : std::to_string(l.value)) + " ";
  auto say_names = [&](const char* key, const std::vector<NamesChange>& changes) {
    for (const NamesChange& n : changes)
      transaction.info += std::string(key) +
                          (n.op == ChangeOp::kAdd        ? "+="
                           : n.op == ChangeOp::kSubtract ? "-="
                                                         : "=") +
                          "'" + join(n.names, ",") + "' ";
  };
  say_names("qos", edit.set.qos);
  say_names("flags", edit.set.flags);
  say_names("clusters", edit.set.clusters);
  for (std::string* text : {&transaction.where, &transaction.info})
    if (!text->empty()) text->pop_back();
  say_affected(changed, transaction);
  return transaction;
}

}  // namespace

AdminLevel level_of(const Directory& d, const std::string& user) {
  const UserRecord* u = find_live(d.users, user);
  return u ? u->admin_level : AdminLevel::kNone;
}

// Adds the account above each account, for the person who is told of the change.
static void name_parents(const Directory& d, rpc::Entities& changed) {
  for (AssociationRecord& a : changed.associations) {
    auto above = d.associations.find(a.parent_id);
    if (a.user.empty() && above != d.associations.end()) a.parent_account = above->second.account;
  }
}

Result<Edited> edit(const Directory& directory, const rpc::EditEntities& request, const EditContext& context) {
  if (request.edits.size() > kMostEdits) return fail(Errc::kError, "more than " + std::to_string(kMostEdits) + " edits in one request");
  Edited out;
  out.directory = directory;
  AssociationIndex index(out.directory);
  for (const EntityEdit& one : request.edits) {
    Editor editor(out.directory, index, out.touched, context, one);
    const size_t before = out.touched.keys.size();
    MUSTER_TRY_VOID(editor.run());
    const bool only_adds = one.verb == EditVerb::kAdd && (one.entity == Entity::kUser || one.entity == Entity::kAccount);
    if (!only_adds) index.forget();
    rpc::Entities changed = editor.take_changed();
    bool any = out.touched.keys.size() != before || !changed.accounts.empty() || !changed.users.empty() || !changed.associations.empty() ||
               !changed.qos.empty() || !changed.clusters.empty() || !changed.wckeys.empty() || !changed.resources.empty() ||
               !changed.federations.empty();
    if (any) out.transactions.push_back(transaction_of(editor.request(), changed, context));
    name_parents(out.directory, changed);
    out.answer.changed.push_back(std::move(changed));
  }
  return out;
}

// ---- associations by whose they are
const AssociationIndex::Ids& AssociationIndex::ids(const std::string& account, const std::string& user) {
  static const Ids kNone;
  if (!std::exchange(made_, true))
    for (const auto& [id, a] : d_.associations) (a.user.empty() ? of_accounts_[a.account] : of_users_[a.user]).push_back(id);
  const auto& map = user.empty() ? of_accounts_ : of_users_;
  auto at = map.find(user.empty() ? account : user);
  return at == map.end() ? kNone : at->second;
}

const AssociationRecord* AssociationIndex::find(const std::string& cluster, const std::string& account, const std::string& user,
                                                const std::string& partition) {
  for (uint32_t id : ids(account, user)) {
    const AssociationRecord& a = d_.associations.at(id);
    if (a.account == account && a.user == user && a.cluster == cluster && a.partition == partition) return &a;
  }
  return nullptr;
}

bool AssociationIndex::has_default(const std::string& user, const std::string& cluster) {
  return std::ranges::any_of(ids("", user), [&](uint32_t id) {
    const AssociationRecord& a = d_.associations.at(id);
    return !a.deleted && a.is_default && a.user == user && a.cluster == cluster;
  });
}

void AssociationIndex::add(const AssociationRecord& a) {
  if (!made_) return;
  Ids& known = a.user.empty() ? of_accounts_[a.account] : of_users_[a.user];
  auto at = std::ranges::lower_bound(known, a.id);  // a deleted one that comes back has its number again
  if (at == known.end() || *at != a.id) known.insert(at, a.id);
}

void AssociationIndex::forget() {
  of_users_.clear();
  of_accounts_.clear();
  made_ = false;
}

// ---- what all edits share
Result<> Editor::run() {
  normalise();
  MUSTER_TRY_VOID(check_names());
  MUSTER_TRY_VOID(check_conditions());
  switch (edit_.entity) {
    case Entity::kAccount:
      return edit_.verb == EditVerb::kAdd ? add_accounts() : edit_.verb == EditVerb::kModify ? modify_accounts() : remove_accounts();
    case Entity::kUser:
      return edit_.verb == EditVerb::kAdd ? add_users() : edit_.verb == EditVerb::kModify ? modify_users() : remove_users();
    case Entity::kCoordinator: return edit_coordinators();
    case Entity::kQos: return edit_qos();
    case Entity::kCluster: return edit_clusters();
    case Entity::kWckey: return edit_wckeys();
    case Entity::kResource: return edit_resources();
    case Entity::kFederation:
      MUSTER_TRY_VOID(need_operator("editing federations"));
      return FederationEdit(d_, touched_, edit_, context_.now, changed_).run();
    default: return fail(Errc::kError, entity_plural(edit_.entity) + " cannot be edited");
  }
}

void Editor::normalise() {
  EntityFilter& w = edit_.where;
  lower_names(w);
  if (!context_.settings.preserve_case) slurmdbd::lower(w.users);
  if (!context_.settings.preserve_case_resource) slurmdbd::lower(w.names);
  EntityChange& s = edit_.set;
  for (auto* name : {&s.parent, &s.default_account, &s.default_wckey, &s.default_qos, &s.federation}) lower(*name);
  if (!context_.settings.preserve_case) lower(s.new_name);
  lower(s.qos);
  lower(s.preempt);
  lower(s.clusters);
  for (LimitChange& l : s.limits) l.tres = to_lower(l.tres);
}

Result<> Editor::check_names() const {
  const EntityFilter& where = edit_.where;
  MUSTER_TRY_VOID(slurmdbd::check_names("Account", where.accounts));
  MUSTER_TRY_VOID(slurmdbd::check_names("Cluster", where.clusters));
  MUSTER_TRY_VOID(slurmdbd::check_names("User", where.users));
  MUSTER_TRY_VOID(slurmdbd::check_names("QOS", where.qos));
  MUSTER_TRY_VOID(slurmdbd::check_names("WCKey", where.wckeys));
  if (edit_.verb == EditVerb::kAdd)
    for (const std::string& key : where.wckeys) MUSTER_TRY_VOID(check_new_wckey("WCKey", key));
  MUSTER_TRY_VOID(slurmdbd::check_names("Name", where.names));
  MUSTER_TRY_VOID(slurmdbd::check_names("Server", where.servers));
  MUSTER_TRY_VOID(slurmdbd::check_names("Federation", where.federations));
  if (edit_.set.new_name) MUSTER_TRY_VOID(slurmdbd::check_names("NewName", {*edit_.set.new_name}));
  if (const auto& key = edit_.set.default_wckey; key && !key->empty()) MUSTER_TRY_VOID(check_new_wckey("DefaultWCKey", *key));
  return {};
}

Result<> Editor::need_operator(const std::string& what) const {
  if (is_operator()) return {};
  return fail(Errc::kAccessDenied, {},
              what + " needs an administrator or an operator (AdminLevel), and user " + context_.actor + " is neither");
}

Result<std::vector<std::string>> Editor::clusters() const {
  std::vector<std::string> out;
  for (const std::string& name : edit_.where.clusters) {
    if (!find_live(d_.clusters, name))
      return fail(Errc::kInvalidClusterName, "Cluster '" + name + "' is not known",
                  "sacctmgr show cluster lists those that are; a controller adds its own when it first connects");
    out.push_back(name);
  }
  if (!edit_.where.clusters.empty()) return out;
  for (const auto& [name, c] : d_.clusters)
    if (!c.deleted) out.push_back(name);
  if (out.empty())
    return fail(Errc::kInvalidClusterName, "there is no cluster yet",
                "a controller adds its own when it first connects; sacctmgr add cluster NAME does it by hand");
  return out;
}

bool Editor::coordinates(const std::string& cluster, const std::string& account) const {
  return context_.settings.coordinators && slurmdbd::coordinates(d_, context_.actor, cluster, account);
}

Result<> Editor::may_edit(const std::string& cluster, const std::string& account) const {
  if (is_operator() || coordinates(cluster, account)) return {};
  return fail(Errc::kAccessDenied, {}, "user " + context_.actor + " is neither an operator nor a coordinator of account " + account);
}

Result<> Editor::refuse_if_used(const std::vector<uint32_t>& associations) const {
  std::map<std::pair<std::string, std::string>, std::vector<const Association*>> places;  // one question for each cluster and account
  for (uint32_t id : associations) {
    const Association& a = d_.associations.at(id);
    places[{a.cluster, a.account}].push_back(&a);
  }
  std::string lines;
  size_t count = 0;
  for (const auto& [place, of] : places) {
    rpc::JobRecordFilter active;
    active.states = 1u << static_cast<unsigned>(JobState::kPending) | 1u << static_cast<unsigned>(JobState::kRunning) |
                    1u << static_cast<unsigned>(JobState::kSuspended);
    active.from = active.until = context_.now;
    active.clusters = {place.first};
    active.accounts = {place.second};
    active.steps = false;
    active.ineligible = true;
    MUSTER_TRY(jobs, context_.jobs(active));
    for (const JobRecord& r : jobs) {
      auto is_of = [&](const Association* a) {
        return (a->user.empty() || r.user == a->user) && (a->partition.empty() || r.partition == a->partition);
      };
      if (is_finished(r.state) || std::ranges::none_of(of, is_of)) continue;
      if (++count <= 100) lines += active_job(r);
    }
  }
  if (!count) return {};
  if (count > 100) lines += "\n  and " + std::to_string(count - 100) + " more";
  return jobs_active(lines);
}

// An account that is a user's default may be removed only together with the user's other associations on that cluster.
Result<> Editor::refuse_default(const std::vector<uint32_t>& gone) const {
  std::string lines;
  for (uint32_t id : gone) {
    const Association& a = d_.associations.at(id);
    if (!a.is_default || a.user.empty()) continue;
    bool keeps_another = std::ranges::any_of(d_.associations, [&](const auto& e) {
      const Association& o = e.second;
      return !o.deleted && o.user == a.user && o.cluster == a.cluster && std::ranges::find(gone, o.id) == gone.end();
    });
    if (keeps_another) lines += "\n  U = " + a.user + " C = " + a.cluster + " A = " + a.account;
  }
  if (lines.empty()) return {};
  return fail(Errc::kCanNotRemoveDefaultAccount, std::string(errc_text(Errc::kCanNotRemoveDefaultAccount)) + lines,
              "give them another first: sacctmgr modify user NAME set DefaultAccount=ACCOUNT");
}

Result<> Editor::remove_association(uint32_t id) {
  Association& association = d_.associations.at(id);
  changed_.associations.push_back(association);
  touch(touched_, association);
  rpc::JobRecordFilter filter;
  filter.clusters = {association.cluster};
  filter.accounts = {association.account};
  filter.from = association.created;  // jobs that ended before did not use it
  bool forget = context_.now - association.created < kForgottenWithin;
  if (forget) {
    MUSTER_TRY(used, context_.any_job(filter, association.user, association.partition));
    forget = !used;
  }
  if (forget) {
    d_.associations.erase(id);
    return {};
  }
  association.deleted = true;
  association.is_default = false;
  association.modified = context_.now;
  return {};
}

Editor::Association& Editor::new_association(const std::string& cluster, const std::string& account, const std::string& user,
                                             const std::string& partition, uint32_t parent) {
  const Association* old = index_.find(cluster, account, user, partition);  // deleted before: it gets its number again
  uint32_t id = old ? old->id : ++d_.last_id;
  Association made;
  made.id = id;
  made.cluster = cluster;
  made.account = account;
  made.user = user;
  made.partition = partition;
  made.parent_id = parent;
  made.created = old ? old->created : context_.now;
  made.modified = context_.now;
  touch(touched_, made);
  index_.add(made);
  return d_.associations[id] = std::move(made);
}

}  // namespace muster::slurmdbd
