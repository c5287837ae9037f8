#include "cli/sacctmgr/load_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cli/sacctmgr/load_differences.h"

namespace muster::cli {
namespace {

using config::AccountEntry;
using config::AccountsEntry;
using config::AccountsFile;
using config::UserEntry;

constexpr size_t kMostNames = 1000, kMostEdits = 10'000;  // of a list and of a request, as slurmdbd has it

std::unexpected<Error> wrong(Errc code, uint32_t line, const std::string& what, std::string hint = {}) {
  return fail(code, "line " + std::to_string(line) + ": " + what, std::move(hint));
}

std::string without_sign(std::string_view name) {
  if (name.starts_with('+') || name.starts_with('-')) name.remove_prefix(1);
  return std::string(name);
}

// What all lines of a user say together of what is not of one association.
struct UserWanted {
  uint32_t line = 0;  // the first one
  std::optional<AdminLevel> level;
  std::optional<std::string> default_account, default_wckey;
  std::vector<std::string> coordinator_of, wckeys;
};

template <class T>
void take_if(std::optional<T>& into, const std::optional<T>& value) {
  if (value) into = value;
}

class Planner {
 public:
  Planner(const AccountsFile& file, const LoadChoices& choices, rpc::Entities& known) : file_(file), choices_(choices) {
    plan_.cluster = choices.cluster.empty() ? file.cluster.name : to_lower(choices.cluster);
    for (QosRecord& q : known.qos) qos_.emplace(q.name, std::move(q));
    for (AccountRecord& a : known.accounts) accounts_.emplace(a.name, std::move(a));
    for (UserRecord& u : known.users) users_.emplace(u.name, std::move(u));
    for (const WckeyRecord& w : known.wckeys)
      if (w.cluster == plan_.cluster) wckeys_.emplace(w.user, w.name);
    for (ClusterRecord& c : known.clusters)
      if (c.name == plan_.cluster) cluster_ = std::move(c);
    for (AssociationRecord& a : known.associations) {
      if (a.cluster != plan_.cluster) elsewhere_.push_back(std::move(a));
      else here_.emplace(Place{a.account, a.user, a.partition}, std::move(a));
    }
  }

  Result<LoadPlan> run() {
    if (file_.cluster.name.empty() && choices_.cluster.empty())
      return fail(Errc::kInvalidReq, " You need to specify a cluster name first with 'Cluster - $NAME' in your file");
    if (choices_.clean && !cluster_.name.empty()) clean();
    MUSTER_TRY_VOID(check_qos());
    add_and_change_qos();
    change_cluster();
    for (const AccountEntry& a : file_.accounts) take_account(a);
    gather_users();
    for (const UserEntry& u : file_.users) take_association(u);
    add_wckeys();  // before one of them becomes a default
    change_levels();
    MUSTER_TRY_VOID(change_defaults());
    MUSTER_TRY_VOID(add_coordinators());
    if (plan_.edits.size() > kMostEdits)
      return fail(
          Errc::kInvalidReq,
          "the file makes " + std::to_string(plan_.edits.size()) + " edits, and one request has at most " + std::to_string(kMostEdits),
          "load it in parts: a file may hold some of the users, below their accounts");
    return std::move(plan_);
  }

 private:
  using Place = std::tuple<std::string, std::string, std::string>;  // account, user, partition

  Changed changed(std::string_view kind, const std::string& name) { return {kind, name, plan_.changed}; }

  EntityEdit& add_edit(EditVerb verb, Entity entity) {
    EntityEdit& edit = plan_.edits.emplace_back();
    edit.verb = verb;
    edit.entity = entity;
    return edit;
  }
  // The same edit for several users is one edit.
  void add_for_user(EntityEdit edit, const std::string& user) {
    const EntityFilter& w = edit.where;
    const std::string key = std::to_string(static_cast<int>(edit.verb)) + "," + std::to_string(static_cast<int>(edit.entity)) + "|" +
                            join(w.accounts, ",") + "|" + join(w.partitions, ",") + "|" + join(w.wckeys, ",") + "|" + key_of(edit.set);
    const auto known = shared_.find(key);
    if (known != shared_.end() && plan_.edits[known->second].where.users.size() < kMostNames) {
      plan_.edits[known->second].where.users.push_back(user);
      return;
    }
    shared_[key] = plan_.edits.size();
    edit.where.users = {user};
    plan_.edits.push_back(std::move(edit));
  }
  EntityEdit user_edit(EditVerb verb, Entity entity = Entity::kUser) const {
    EntityEdit edit;
    edit.verb = verb;
    edit.entity = entity;
    return edit;
  }

  // ---- clean
  void clean() {
    add_edit(EditVerb::kDelete, Entity::kCluster).where.clusters = {plan_.cluster};
    std::set<std::string> accounts{"root"}, users{"root"}, qos{"normal"};  // what stays
    for (const AssociationRecord& a : elsewhere_) {
      accounts.insert(a.account);
      users.insert(a.user);
      for (const std::string& name : a.qos) qos.insert(without_sign(name));
      qos.insert(a.default_qos);
    }
    if (choices_.clean_users) remove_others(users_, users, Entity::kUser, &EntityFilter::users);
    if (choices_.clean_accounts) remove_others(accounts_, accounts, Entity::kAccount, &EntityFilter::accounts);
    if (choices_.clean_qos) remove_others(qos_, qos, Entity::kQos, &EntityFilter::qos);
    for (auto& [name, u] : users_)
      std::erase_if(u.coordinator_of, [&](const std::string& account) { return !accounts_.contains(account); });
    for (auto& [name, q] : qos_) std::erase_if(q.preempt, [&](const std::string& other) { return !qos_.contains(other); });
    std::erase_if(here_,
                  [](const auto& e) { return std::get<0>(e.first) != "root" || (!e.second.user.empty() && e.second.user != "root"); });
    for (auto& [place, a] : here_) {  // a cluster that is added again has its root associations as they were at first
      a.limits.clear();
      a.default_qos.clear();
      a.qos = a.user.empty() ? std::vector<std::string>{"normal"} : std::vector<std::string>();
      a.is_default = !a.user.empty();
    }
    cleaned_ = true;
  }
  template <class Record>
  void remove_others(std::map<std::string, Record>& records, const std::set<std::string>& stay, Entity entity,
                     std::vector<std::string> EntityFilter::*list) {
    std::vector<std::string> gone;
    for (const auto& [name, r] : records)
      if (!stay.contains(name)) gone.push_back(name);
    for (size_t i = 0; i < gone.size(); ++i) {
      if (i % kMostNames == 0) add_edit(EditVerb::kDelete, entity);
      (plan_.edits.back().where.*list).push_back(gone[i]);
      records.erase(gone[i]);
    }
  }
  // ---- QOS
  Result<> check_names(uint32_t line, std::string_view option, const std::vector<NamesChange>& changes) const {
    for (const NamesChange& c : changes)
      for (const std::string& name : c.names) MUSTER_TRY_VOID(check_name(line, option, name));
    return {};
  }
  Result<> check_name(uint32_t line, std::string_view option, const std::string& name) const {
    if (name.empty() || qos_.contains(name) || own_qos_.contains(name)) return {};
    std::vector<std::string> valid;
    for (const auto& [known, q] : qos_) valid.push_back(known);
    for (const std::string& own : own_qos_) valid.push_back(own);
    if (valid.size() > 20) valid.resize(20);
    return wrong(Errc::kInvalidQos, line, std::string(option) + ": You gave a bad qos '" + name + "'",
                 "valid ones are " + join(valid, ",") + "; sacctmgr show qos lists all");
  }
  Result<> check_entry(const AccountsEntry& e) const {
    MUSTER_TRY_VOID(check_names(e.line, "QOS", e.set.qos));
    MUSTER_TRY_VOID(check_names(e.line, "Preempt", e.set.preempt));
    return check_name(e.line, "DefaultQOS", e.set.default_qos.value_or(""));
  }
  Result<> check_qos() {
    for (const AccountsEntry& q : file_.qos) own_qos_.insert(q.name);
    MUSTER_TRY_VOID(check_entry(file_.cluster));
    for (const AccountsEntry& e : file_.qos) MUSTER_TRY_VOID(check_entry(e));
    for (const AccountsEntry& e : file_.accounts) MUSTER_TRY_VOID(check_entry(e));
    for (const AccountsEntry& e : file_.users) MUSTER_TRY_VOID(check_entry(e));
    return {};
  }
  void add_and_change_qos() {
    std::vector<EntityEdit> preempts;  // after all are there
    for (const AccountsEntry& e : file_.qos) {
      const auto known = qos_.find(e.name);
      const bool fresh = known == qos_.end();
      EntityEdit edit = user_edit(fresh ? EditVerb::kAdd : EditVerb::kModify, Entity::kQos);
      edit.where.qos = {e.name};
      edit.set = fresh ? e.set : difference(e.set, known->second, changed("QOS", e.name));
      EntityEdit preempt = user_edit(EditVerb::kModify, Entity::kQos);
      preempt.where.qos = {e.name};
      std::swap(preempt.set.preempt, edit.set.preempt);
      if (!preempt.set.preempt.empty()) preempts.push_back(std::move(preempt));
      if (fresh || !is_empty(edit.set)) plan_.edits.push_back(std::move(edit));
    }
    std::ranges::move(preempts, std::back_inserter(plan_.edits));
  }

  // ---- the cluster and its accounts
  void change_cluster() {
    const EntityChange& wanted = file_.cluster.set;
    if (cluster_.name.empty() || cleaned_) {
      EntityEdit& edit = add_edit(EditVerb::kAdd, Entity::kCluster);
      edit.where.clusters = {plan_.cluster};
      edit.set = of_new_association(wanted);
      return;
    }
    EntityEdit edit = user_edit(EditVerb::kModify, Entity::kCluster);
    edit.where.clusters = {plan_.cluster};
    edit.set = difference(wanted, here_[Place{"root", "", ""}], changed("Cluster", plan_.cluster));
    if (wanted.classification && !iequals(*wanted.classification, cluster_.classification)) {
      edit.set.classification = wanted.classification;
      changed("Cluster", plan_.cluster).say("Classification", cluster_.classification, *wanted.classification);
    }
    if (!is_empty(edit.set)) plan_.edits.push_back(std::move(edit));
  }
  void take_account(const AccountEntry& entry) {
    const auto record = accounts_.find(entry.name);
    const auto at = here_.find(Place{entry.name, "", ""});
    EntityEdit edit = user_edit(at == here_.end() ? EditVerb::kAdd : EditVerb::kModify, Entity::kAccount);
    edit.where.accounts = {entry.name};
    edit.where.clusters = {plan_.cluster};
    EntityChange own;  // of the account itself, on all clusters
    if (record != accounts_.end()) own = difference(entry.set, record->second, changed("Account", entry.name));
    if (at == here_.end() && entry.parent.empty()) return;  // root of a cluster that is new has what its Cluster line says
    if (at == here_.end()) {
      edit.set = of_new_association(entry.set);
      edit.set.parent = entry.parent;
      plan_.edits.push_back(std::move(edit));
      edit = user_edit(EditVerb::kModify, Entity::kAccount);
      edit.where.accounts = {entry.name};
    } else {
      edit.set = difference(entry.set, at->second, changed("Account", entry.name));
      if (!entry.parent.empty() && at->second.parent_account != entry.parent) {
        changed("Account", entry.name).say("Parent", at->second.parent_account, entry.parent);
        edit.set.parent = entry.parent;
      }
    }
    edit.set.description = own.description;
    edit.set.organization = own.organization;
    edit.set.flags = own.flags;
    if (!is_empty(edit.set)) plan_.edits.push_back(std::move(edit));
  }

  // ---- users
  // The name that slurmdbd has: without PreserveCaseUser it keeps names in lower case.
  std::string known_name(const std::string& name) const {
    if (users_.contains(name)) return name;
    std::string lower = to_lower(name);
    return users_.contains(lower) ? lower : name;
  }
  void gather_users() {
    for (const UserEntry& e : file_.users) {
      const std::string name = known_name(e.name);
      UserWanted& w = wanted_[name];
      if (!w.line) w.line = e.line;
      take_if(w.level, e.set.admin_level);
      take_if(w.default_account, e.set.default_account);
      take_if(w.default_wckey, e.set.default_wckey);
      if (!e.coordinator_of.empty()) w.coordinator_of = e.coordinator_of;
      if (!e.wckeys.empty()) w.wckeys = e.wckeys;
      accounts_of_[name].insert(e.account);
    }
    for (const auto& [place, a] : here_) {
      if (a.user.empty()) continue;
      accounts_of_[a.user].insert(a.account);
      if (a.is_default) defaults_[a.user] = a.account;
    }
  }
  void take_association(const UserEntry& entry) {
    const std::string name = known_name(entry.name);
    const auto at = here_.find(Place{entry.account, name, entry.partition});
    const bool fresh = at == here_.end();
    EntityEdit edit = user_edit(fresh ? EditVerb::kAdd : EditVerb::kModify);
    edit.where.accounts = {entry.account};
    edit.where.clusters = {plan_.cluster};
    if (fresh) {
      edit.set = of_new_association(entry.set);
      edit.set.default_account.reset();  // once all of the user's accounts are there
      const UserWanted& user = wanted_.at(name);
      edit.set.admin_level = users_.contains(name) ? std::nullopt : user.level;
      edit.set.default_wckey = users_.contains(name) ? std::nullopt : user.default_wckey;
      if (!entry.partition.empty()) edit.where.partitions = {entry.partition};
    } else {
      edit.set = difference(entry.set, at->second, changed("User", name));
      edit.where.partitions = {entry.partition};
    }
    if (fresh || !is_empty(edit.set)) add_for_user(std::move(edit), name);
  }
  void change_levels() {
    for (const auto& [name, wanted] : wanted_) {
      const auto record = users_.find(name);
      if (record == users_.end()) continue;
      EntityEdit edit = user_edit(EditVerb::kModify);
      if (wanted.level && *wanted.level != record->second.admin_level) {
        edit.set.admin_level = wanted.level;
        changed("User", name).say("Admin Level", level_name(record->second.admin_level), level_name(*wanted.level));
      }
      if (wanted.default_wckey && *wanted.default_wckey != record->second.default_wckey) {
        edit.set.default_wckey = wanted.default_wckey;
        changed("User", name).say("Default WCKey", record->second.default_wckey, *wanted.default_wckey);
      }
      if (!is_empty(edit.set)) add_for_user(std::move(edit), name);
    }
  }
  static std::string_view level_name(AdminLevel level) {
    return level == AdminLevel::kAdministrator ? "Administrator" : level == AdminLevel::kOperator ? "Operator" : "None";
  }
  // slurmdbd makes the first account that a user is added to the default one.
  Result<> change_defaults() {
    std::map<std::string, std::string> first;
    for (const EntityEdit& edit : plan_.edits)
      if (edit.verb == EditVerb::kAdd && edit.entity == Entity::kUser)
        for (const std::string& user : edit.where.users) first.emplace(user, edit.where.accounts.front());
    for (const auto& [name, wanted] : wanted_) {
      if (!wanted.default_account) continue;
      if (!accounts_of_[name].contains(*wanted.default_account))
        return wrong(Errc::kInvalidAccount, wanted.line,
                     "DefaultAccount=" + *wanted.default_account + ": user " + name + " is not in that account");
      const auto now = defaults_.find(name);
      if (now != defaults_.end() && now->second == *wanted.default_account) continue;
      if (!users_.contains(name) && first[name] == *wanted.default_account) continue;
      changed("User", name).say("Default Account", now == defaults_.end() ? first[name] : now->second, *wanted.default_account);
      EntityEdit edit = user_edit(EditVerb::kModify);
      edit.where.clusters = {plan_.cluster};
      edit.set.default_account = wanted.default_account;
      add_for_user(std::move(edit), name);
    }
    return {};
  }
  Result<> add_coordinators() {
    std::set<std::string> own;
    for (const AccountEntry& a : file_.accounts) own.insert(a.name);
    for (const auto& [name, w] : wanted_) {
      const auto record = users_.find(name);
      EntityEdit edit = user_edit(EditVerb::kAdd, Entity::kCoordinator);
      for (const std::string& account : w.coordinator_of) {
        if (!accounts_.contains(account) && !own.contains(account))
          return wrong(Errc::kInvalidAccount, w.line, "Coordinator=" + account + ": there is no such account");
        if (record == users_.end() || std::ranges::find(record->second.coordinator_of, account) == record->second.coordinator_of.end())
          edit.where.accounts.push_back(account);
      }
      if (!edit.where.accounts.empty()) add_for_user(std::move(edit), name);
    }
    return {};
  }
  void add_wckeys() {
    for (const auto& [name, w] : wanted_) {
      EntityEdit edit = user_edit(EditVerb::kAdd, Entity::kWckey);
      edit.where.clusters = {plan_.cluster};
      for (const std::string& key : w.wckeys)
        if (!wckeys_.contains({name, key})) edit.where.wckeys.push_back(key);
      if (!edit.where.wckeys.empty()) add_for_user(std::move(edit), name);
    }
  }

  const AccountsFile& file_;
  const LoadChoices& choices_;
  LoadPlan plan_;
  ClusterRecord cluster_;  // without a name: it is new
  bool cleaned_ = false;
  std::map<std::string, QosRecord> qos_;
  std::map<std::string, AccountRecord> accounts_;
  std::map<std::string, UserRecord> users_;
  std::set<std::pair<std::string, std::string>> wckeys_;  // user, name
  std::map<Place, AssociationRecord> here_;
  std::vector<AssociationRecord> elsewhere_;
  std::set<std::string> own_qos_;
  std::map<std::string, UserWanted> wanted_;
  std::map<std::string, std::set<std::string>> accounts_of_;
  std::map<std::string, std::string> defaults_;
  std::map<std::string, size_t> shared_;  // edits by what they do, for add_for_user
};

}  // namespace

Result<LoadPlan> plan_load(const AccountsFile& file, const LoadChoices& choices, rpc::Entities known) {
  return Planner(file, choices, known).run();
}

}  // namespace muster::cli
