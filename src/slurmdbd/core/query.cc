#include "slurmdbd/core/query.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "slurmdbd/core/editor.h"

namespace muster::slurmdbd {
namespace {

using Association = AssociationRecord;

template <class T>
bool in(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}
bool any_in(const std::vector<std::string>& list, const std::vector<std::string>& values) {
  return list.empty() || std::ranges::any_of(values, [&](const std::string& v) { return in(list, v); });
}
bool has_any_flag(const std::vector<std::string>& list, const std::vector<std::string>& flags) {
  return list.empty() || std::ranges::any_of(flags, [&](const std::string& flag) {
           return std::ranges::any_of(list, [&](const std::string& wanted) { return iequals(wanted, flag); });
         });
}
template <class Record>
bool there(const Record& r, const EntityFilter& f) {
  return !r.deleted || f.with_deleted;
}

class Query {
 public:
  Query(const Directory& d, const rpc::QueryEntities& q, const Audience& audience) : d_(d), q_(q), f_(q.filter), audience_(audience) {
    for (const auto& [id, a] : d.associations) children_[a.parent_id].push_back(&a);
    // Below an account first its users, then its accounts, each by name.
    auto before = [](const Association* a, const Association* b) {
      return std::tuple(a->user.empty(), a->user.empty() ? a->account : a->user, a->partition) <
             std::tuple(b->user.empty(), b->user.empty() ? b->account : b->user, b->partition);
    };
    for (auto& [id, list] : children_) std::ranges::sort(list, before);
    if (audience.who.all) return;
    for (const auto& [id, a] : d.associations)
      if (!a.deleted && mine(a)) own_accounts_.insert(a.account);
  }

  rpc::Entities run() {
    switch (q_.what) {
      case Entity::kAccount: accounts(); break;
      case Entity::kAssociation: associations(); break;
      case Entity::kCluster: clusters(); break;
      case Entity::kCoordinator:
      case Entity::kUser: users(); break;
      case Entity::kQos: qos(); break;
      case Entity::kTres: tres(); break;
      case Entity::kWckey: wckeys(); break;
      case Entity::kResource: resources(); break;
      case Entity::kFederation: federations(); break;
      case Entity::kTransaction: break;
    }
    return std::move(out_);
  }

 private:
  bool mine(const Association& a) const { return !a.user.empty() && a.user == audience_.who.user; }
  bool visible(const Association& a) const {
    if (audience_.who.all || audience_.who.coordinates(a.cluster, a.account)) return true;
    if (!a.user.empty()) return !audience_.private_users || mine(a);
    return !audience_.private_accounts || own_accounts_.contains(a.account);
  }
  bool visible(const AccountRecord& a) const {
    const RecordAudience& who = audience_.who;
    return who.all || !audience_.private_accounts || own_accounts_.contains(a.name) ||
           std::ranges::any_of(who.accounts, [&](const auto& of_cluster) { return of_cluster.second.contains(a.name); });
  }
  bool visible(const std::string& user) const { return audience_.who.all || !audience_.private_users || user == audience_.who.user; }

  void accounts() {
    const auto coordinators = all_coordinators();
    const bool asks_of_coordinators = q_.with_coordinators && !q_.with_associations;  // the users named are else those of associations
    for (const auto& [name, a] : d_.accounts) {
      if (!there(a, f_) || !in(f_.accounts, name) || !in(f_.descriptions, a.description) || !in(f_.organizations, a.organization)) continue;
      if (!visible(a) || !has_any_flag(f_.flags, a.flags)) continue;
      AccountRecord r = a;
      if (auto of = coordinators.find(name); of != coordinators.end()) r.coordinators.assign(of->second.begin(), of->second.end());
      if (asks_of_coordinators && !any_in(f_.users, r.coordinators)) continue;
      out_.accounts.push_back(std::move(r));
    }
    if (q_.with_associations) associations();
  }

  // The coordinators by account. UsersAreCoords of an account makes its users coordinators of it and of all accounts below.
  using Coordinators = std::map<std::string_view, std::set<std::string_view>>;
  Coordinators all_coordinators() const {
    Coordinators out;
    for (const auto& [user, u] : d_.users)
      for (const std::string& account : u.coordinator_of)
        if (!u.deleted) out[account].insert(user);
    for (const auto& [id, a] : d_.associations) {
      if (!a.user.empty() || a.deleted) continue;
      if (!has_users_as_coordinators(d_, a.account)) continue;
      std::set<std::string_view> users;
      for_children(a, [&](const Association& child) {
        if (!child.user.empty() && child.account == a.account && !child.deleted) users.insert(child.user);
      });
      add_below(a, users, out);
    }
    return out;
  }
  void add_below(const Association& a, const std::set<std::string_view>& users, Coordinators& out) const {
    out[a.account].insert(users.begin(), users.end());
    for_children(a, [&](const Association& child) {
      if (child.user.empty() && !child.deleted) add_below(child, users, out);
    });
  }
  template <class F>
  void for_children(const Association& a, F f) const {
    auto below = children_.find(a.id);
    if (below == children_.end()) return;
    for (const Association* child : below->second) f(*child);
  }

  std::map<std::string_view, std::string_view> default_accounts() const {  // by user; the first of several clusters
    std::map<std::string_view, std::string_view> out;
    for (const auto& [id, a] : d_.associations)
      if (!a.deleted && a.is_default && in(f_.clusters, a.cluster)) out.emplace(a.user, a.account);
    return out;
  }

  // Whether the user may name one of the keys that are asked for.
  bool has_wckey(const std::string& user) const {
    return f_.wckeys.empty() || std::ranges::any_of(d_.wckeys, [&](const auto& e) {
             return e.second.user == user && there(e.second, f_) && in(f_.wckeys, e.second.name) && in(f_.clusters, e.second.cluster);
           });
  }

  // By user, in order. Only for those who look: slurmctld works out by itself what UsersAreCoords makes of a user.
  std::map<std::string_view, std::vector<std::string>> accounts_coordinated() const {
    std::map<std::string_view, std::vector<std::string>> out;
    if (!q_.with_coordinators && q_.what != Entity::kCoordinator) return out;
    for (const auto& [account, users] : all_coordinators())
      for (std::string_view user : users) out[user].emplace_back(account);
    return out;
  }

  void users() {
    const auto defaults = default_accounts();
    const auto coordinated = accounts_coordinated();
    for (const auto& [name, u] : d_.users) {
      if (!there(u, f_) || !in(f_.users, name) || (f_.admin_level && u.admin_level != *f_.admin_level)) continue;
      if (!visible(name)) continue;
      UserRecord r = u;
      if (auto of = coordinated.find(name); of != coordinated.end()) r.coordinator_of = of->second;
      if (q_.what == Entity::kCoordinator && (r.coordinator_of.empty() || !any_in(f_.accounts, r.coordinator_of))) continue;
      auto own = defaults.find(name);
      r.default_account = own == defaults.end() ? "" : std::string(own->second);
      if (!in(f_.default_accounts, r.default_account) || !in(f_.default_wckeys, r.default_wckey) || !has_wckey(name)) continue;
      out_.users.push_back(std::move(r));
    }
    if (q_.with_associations) associations();
  }

  void clusters() {
    for (const auto& [name, c] : d_.clusters) {
      if (!there(c, f_) || !in(f_.clusters, name) || !in(f_.classifications, c.classification) || !in(f_.federations, c.federation))
        continue;
      out_.clusters.push_back(c);
      if (const Association* root = d_.association(name, "root"); root && q_.with_associations)
        out_.associations.push_back(shown(*root, 0, "/"));
    }
  }

  void qos() {
    for (const auto& [name, q] : d_.qos) {
      bool limits = std::ranges::all_of(f_.limits, [&](const Limit& l) { return find_limit(q.limits, l.kind, l.tres) == l.value; });
      if (!there(q, f_) || !in(f_.qos, name) || !in(f_.ids, q.id) || !in(f_.descriptions, q.description) || !any_in(f_.flags, q.flags) ||
          !in(f_.preempt_modes, q.preempt_mode.text()) || !limits)
        continue;
      out_.qos.push_back(q);
    }
    std::ranges::sort(out_.qos, {}, &QosRecord::id);
  }

  // By its type, its name or both.
  bool in_tres(const TresRecord& t) const {
    return f_.tres.empty() || in(f_.tres, tres_name(t)) || in(f_.tres, t.type) || (!t.name.empty() && in(f_.tres, t.name));
  }
  void tres() {
    for (const auto& [id, t] : d_.tres)
      if (in(f_.ids, id) && in_tres(t)) out_.tres.push_back(t);
  }

  void wckeys() {
    for (const auto& [id, k] : d_.wckeys)
      if (visible(k.user) && there(k, f_) && in(f_.ids, id) && in(f_.wckeys, k.name) && in(f_.users, k.user) && in(f_.clusters, k.cluster))
        add_wckey(k);
  }

  void add_wckey(WckeyRecord key) {
    const UserRecord* user = find_live(d_.users, key.user);
    key.is_default = !key.deleted && user && user->default_wckey == key.name;
    if (key.is_default || !f_.only_defaults) out_.wckeys.push_back(std::move(key));
  }

  // With the clusters that are in them, by their numbers there. Of clusters that are named only those.
  void federations() {
    for (const auto& [name, federation] : d_.federations) {
      if (!there(federation, f_) || !in(f_.federations, name)) continue;
      std::vector<ClusterRecord> members;
      for (const auto& [cluster, c] : d_.clusters)
        if (!c.deleted && c.federation == name && in(f_.clusters, cluster)) members.push_back(c);
      if (members.empty() && !f_.clusters.empty()) continue;
      std::ranges::sort(members, {}, &ClusterRecord::fed_id);
      out_.federations.push_back(federation);
      std::ranges::move(members, std::back_inserter(out_.clusters));
    }
  }

  // Of clusters that are named only the shares are in the answer, and only what they have one of.
  void resources() {
    for (const auto& [id, known] : d_.resources) {
      if (!there(known, f_) || !in(f_.names, known.name) || !in(f_.servers, known.server) || !in(f_.server_types, known.server_type) ||
          !in(f_.ids, id) || !in(f_.descriptions, known.description) || !any_in(f_.flags, known.flags))
        continue;
      ResourceRecord r = known;
      std::erase_if(r.clusters, [&](const ResourceShare& s) { return !in(f_.clusters, s.cluster); });
      if (f_.clusters.empty() || !r.clusters.empty()) out_.resources.push_back(std::move(r));
    }
  }

  // ---- associations, as a tree
  void associations() {
    auto roots = children_.find(0);
    if (roots == children_.end()) return;
    std::vector<const Association*> by_cluster = roots->second;
    std::ranges::sort(by_cluster, {}, &Association::cluster);
    for (const Association* root : by_cluster)
      if (in(f_.clusters, root->cluster)) walk(*root, 0, "/", f_.accounts.empty());
  }

  // `chosen`: the question names an account above this one and asks for its sub-accounts too.
  void walk(const Association& association, uint32_t depth, const std::string& lineage, bool chosen) {
    bool here = chosen || in(f_.accounts, association.account);
    if (here && wanted(association)) out_.associations.push_back(shown(association, depth, lineage));
    auto below = children_.find(association.id);
    if (below == children_.end()) return;
    for (const Association* child : below->second) {
      std::string path =
          lineage + (child->user.empty() ? child->account : "0-" + child->user + (child->partition.empty() ? "" : "/" + child->partition)) +
          "/";
      bool same = child->account == association.account;
      walk(*child, depth + 1, path, f_.accounts.empty() || (here && (same || f_.with_sub_accounts)));
    }
  }

  bool wanted(const Association& association) const {
    if (!there(association, f_) || !visible(association) || !in(f_.ids, association.id)) return false;
    if (q_.what == Entity::kUser && association.user.empty()) return false;
    if (!f_.users.empty() && !in(f_.users, association.user)) return false;
    if (!f_.partitions.empty() && !in(f_.partitions, association.partition)) return false;
    if (f_.only_defaults && !association.is_default) return false;
    if (!f_.parents.empty()) {
      auto up = d_.associations.find(association.parent_id);
      if (up == d_.associations.end() || !in(f_.parents, up->second.account)) return false;
    }
    if (!in(f_.default_qos, association.default_qos) || !any_in(f_.qos, effective_qos(d_, association))) return false;
    return std::ranges::all_of(f_.limits, [&](const Limit& l) { return effective_limit(d_, association, l.kind, l.tres) == l.value; });
  }

  Association shown(const Association& association, uint32_t depth, const std::string& lineage) const {
    Association row = association;
    row.depth = depth;
    row.lineage = lineage;
    auto up = d_.associations.find(association.parent_id);
    if (up != d_.associations.end() && association.user.empty()) row.parent_account = up->second.account;
    if (q_.raw) return row;
    if (!q_.raw_qos) row.qos = effective_qos(d_, association);
    row.default_qos = d_.default_qos(&association, "");
    for (auto at = up; at != d_.associations.end(); at = d_.associations.find(at->second.parent_id))
      for (const Limit& l : at->second.limits)
        if (is_inherited(l.kind) && !find_limit(row.limits, l.kind, l.tres)) row.limits.push_back(l);
    return row;
  }

  const Directory& d_;
  const rpc::QueryEntities& q_;
  const EntityFilter& f_;
  const Audience& audience_;
  std::map<uint32_t, std::vector<const Association*>> children_;
  std::set<std::string, std::less<>> own_accounts_;  // in which the audience is, on any cluster
  rpc::Entities out_;
};

}  // namespace

rpc::Entities query(const Directory& d, const rpc::QueryEntities& q, const Audience& audience) { return Query(d, q, audience).run(); }

bool sees(const Audience& audience, const TransactionRecord& t) {
  const bool is_private = audience.private_users || audience.private_accounts;
  return audience.who.all || !is_private || t.actor == audience.who.user;
}

bool matches(const TransactionRecord& t, const EntityFilter& f) {
  return in(f.actors, t.actor) && in(f.actions, t.action) && any_in(f.accounts, t.accounts) && any_in(f.clusters, t.clusters) &&
         any_in(f.users, t.users) && (f.ids.empty() || std::ranges::find(f.ids, static_cast<uint32_t>(t.id)) != f.ids.end());
}

}  // namespace muster::slurmdbd
