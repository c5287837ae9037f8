#include "slurmdbd/core/federations.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace muster::slurmdbd {
namespace {

constexpr uint32_t kMostClusters = 63;
constexpr std::string_view kStates[] = {"ACTIVE", "INACTIVE", "DRAIN", "DRAIN+REMOVE"};

bool is_in(const std::vector<std::string>& list, const std::string& name) { return std::ranges::find(list, name) != list.end(); }

// Gives the cluster the lowest number that is free.
Result<> join_federation(const Directory& directory, ClusterRecord& cluster, const std::string& federation) {
  if (!find_live(directory.federations, federation))
    return fail(Errc::kNotFound, "Federation '" + federation + "' is not known", "sacctmgr add federation " + federation + " makes it");
  std::set<uint32_t> taken;
  for (const auto& [name, other] : directory.clusters)
    if (!other.deleted && other.federation == federation && name != cluster.name) taken.insert(other.fed_id);
  if (taken.size() >= kMostClusters)
    return fail(Errc::kError, "Federation '" + federation + "' has " + std::to_string(kMostClusters) + " clusters, and no more fit in one");
  uint32_t id = 1;
  while (taken.contains(id)) ++id;
  cluster.federation = federation;
  cluster.fed_state = "ACTIVE";
  cluster.fed_id = id;
  return {};
}

void apply(const NamesChange& change, std::vector<std::string>& list) {
  if (change.op == ChangeOp::kClear) list.clear();
  if (change.op == ChangeOp::kSet) list = change.names;
  for (const std::string& name : change.names) {
    if (change.op == ChangeOp::kAdd && !is_in(list, name)) list.push_back(name);
    if (change.op == ChangeOp::kSubtract) std::erase(list, name);
  }
}

}  // namespace

void leave_federation(ClusterRecord& cluster) {
  cluster.federation.clear();
  cluster.fed_state.clear();
  cluster.fed_id = 0;
}

Result<bool> change_membership(const Directory& directory, ClusterRecord& cluster, const EntityChange& set) {
  const std::string federation = cluster.federation, state = cluster.fed_state;
  if (set.federation && *set.federation != federation) {
    if (set.federation->empty()) leave_federation(cluster);
    else MUSTER_TRY_VOID(join_federation(directory, cluster, *set.federation));
  }
  if (set.fed_state) {
    const auto known = std::ranges::find_if(kStates, [&](std::string_view word) { return iequals(word, *set.fed_state); });
    if (known == std::end(kStates))
      return fail(Errc::kError, "FedState='" + *set.fed_state + "': is one of ACTIVE, INACTIVE, DRAIN, DRAIN+REMOVE");
    if (cluster.federation.empty()) return fail(Errc::kError, "FedState: cluster '" + cluster.name + "' is in no federation");
    // It leaves when its federated jobs have ended, and it has none.
    if (*known == "DRAIN+REMOVE") leave_federation(cluster);
    else cluster.fed_state = *known;
  }
  return cluster.federation != federation || cluster.fed_state != state;
}

std::vector<std::string> FederationEdit::members(const std::string& federation) const {
  std::vector<std::string> out;
  for (const auto& [name, cluster] : d_.clusters)
    if (!cluster.deleted && cluster.federation == federation) out.push_back(name);
  return out;
}

Result<bool> FederationEdit::change_members(const std::string& federation) {
  const std::vector<std::string> before = members(federation);
  std::vector<std::string> after = before;
  for (const NamesChange& change : edit_.set.clusters) apply(change, after);
  bool changed = false;
  for (const std::string& name : before) {
    if (is_in(after, name)) continue;
    leave_federation(d_.clusters.at(name));
    note_member(name);
    changed = true;
  }
  for (const std::string& name : after) {
    if (is_in(before, name)) continue;
    if (!find_live(d_.clusters, name)) return fail(Errc::kInvalidClusterName, "Clusters: cluster '" + name + "' is not known");
    ClusterRecord& cluster = d_.clusters.at(name);
    if (!cluster.federation.empty())
      return fail(Errc::kError,
                  "Clusters: cluster '" + name + "' is in federation '" + cluster.federation + "', and a cluster is in one at a time");
    MUSTER_TRY_VOID(join_federation(d_, cluster, federation));
    note_member(name);
    changed = true;
  }
  return changed;
}

void FederationEdit::note_member(const std::string& name) {
  ClusterRecord& cluster = d_.clusters.at(name);
  cluster.modified = now_;
  touch(touched_, cluster);
  changed_.clusters.push_back(cluster);
}

Result<> FederationEdit::add() {
  if (edit_.where.federations.empty()) return fail(Errc::kError, "Name: name the federations to add");
  for (const std::string& name : edit_.where.federations) {
    if (find_live(d_.federations, name)) continue;
    FederationRecord& federation = d_.federations[name];
    const Time created = federation.created;
    federation = {name, created == kTimeUnset ? now_ : created, now_, false};
    touch(touched_, federation);
    changed_.federations.push_back(federation);
    MUSTER_TRY_VOID(change_members(name));
  }
  return {};
}

Result<> FederationEdit::modify() {
  for (const std::string& name : edit_.where.federations)
    if (!find_live(d_.federations, name)) return fail(Errc::kNotFound, " The federation " + name + " doesn't exist.");
  for (auto& [name, federation] : d_.federations) {
    if (!meets(federation)) continue;
    MUSTER_TRY(changed, change_members(name));
    if (!changed) continue;
    federation.modified = now_;
    touch(touched_, federation);
    changed_.federations.push_back(federation);
  }
  return {};
}

Result<> FederationEdit::remove() {
  if (edit_.where.federations.empty()) return fail(Errc::kError, "delete federation needs a condition: which ones");
  std::vector<std::string> forgotten;
  for (auto& [name, federation] : d_.federations) {
    if (!meets(federation)) continue;
    for (const std::string& member : members(name)) {
      leave_federation(d_.clusters.at(member));
      note_member(member);
    }
    touch(touched_, federation);
    changed_.federations.push_back(federation);
    if (now_ - federation.created < kForgottenWithin) forgotten.push_back(name);
    federation.deleted = true;
    federation.modified = now_;
  }
  for (const std::string& name : forgotten) d_.federations.erase(name);
  return {};
}

bool FederationEdit::meets(const FederationRecord& f) const {
  const std::vector<std::string>& names = edit_.where.federations;
  return !f.deleted && (names.empty() || std::ranges::find(names, f.name) != names.end());
}

Result<> FederationEdit::run() {
  switch (edit_.verb) {
    case EditVerb::kAdd: return add();
    case EditVerb::kModify: return modify();
    case EditVerb::kDelete: return remove();
  }
  return {};
}

}  // namespace muster::slurmdbd
