#include "slurmdbd/core/directory.h"

#include <algorithm>

#include "base/text.h"
#include "model/entity_flags.h"

namespace muster::slurmdbd {
namespace {

constexpr uint32_t kFirstOwnTres = 1001;
constexpr struct {
  uint32_t id;
  const char *type, *name;
} kBasicTres[] = {{1, "cpu", ""},     {2, "mem", ""},    {3, "energy", ""}, {4, "node", ""},
                  {5, "billing", ""}, {6, "fs", "disk"}, {7, "vmem", ""},   {8, "pages", ""}};

// An association of a cluster's root, as a new one is. One that was deleted begins anew under its number.
uint32_t add_root(Directory& directory, const std::string& cluster, const std::string& user, uint32_t parent,
                  const std::string& default_qos, Time now, Touched& touched) {
  const AssociationRecord* known = directory.association(cluster, "root", user);
  AssociationRecord association;
  association.id = known ? known->id : ++directory.last_id;
  association.cluster = cluster;
  association.account = "root";
  association.user = user;
  association.parent_id = parent;
  association.is_default = !user.empty();
  if (user.empty()) association.qos = {"normal"};
  if (user.empty()) association.default_qos = default_qos;
  association.created = known ? known->created : now;
  association.modified = now;
  if (known) association.usage_reset = known->usage_reset;
  touch(touched, association);
  const uint32_t id = association.id;
  directory.associations[id] = std::move(association);
  return id;
}

void add_tres(Directory& d, const std::string& name, Touched& t) {
  for (const auto& [id, known] : d.tres)
    if (tres_name(known) == name) return;
  TresRecord r;
  r.id = d.tres.empty() ? kFirstOwnTres : std::max(kFirstOwnTres, d.tres.rbegin()->first + 1);
  size_t slash = name.find('/');
  r.type = name.substr(0, slash);
  if (slash != std::string::npos) r.name = name.substr(slash + 1);
  touch(t, r);
  d.tres[r.id] = std::move(r);
}

}  // namespace

std::string tres_name(const TresRecord& t) { return t.name.empty() ? t.type : t.type + "/" + t.name; }

void touch(Touched& t, const ClusterRecord& r) { t.keys.emplace(Entity::kCluster, r.name); }
void touch(Touched& t, const AccountRecord& r) { t.keys.emplace(Entity::kAccount, r.name); }
void touch(Touched& t, const UserRecord& r) { t.keys.emplace(Entity::kUser, r.name); }
void touch(Touched& t, const QosRecord& r) { t.keys.emplace(Entity::kQos, r.name); }
void touch(Touched& t, const AssociationRecord& r) { t.keys.emplace(Entity::kAssociation, std::to_string(r.id)); }
void touch(Touched& t, const TresRecord& r) { t.keys.emplace(Entity::kTres, std::to_string(r.id)); }
void touch(Touched& t, const WckeyRecord& r) { t.keys.emplace(Entity::kWckey, std::to_string(r.id)); }
void touch(Touched& t, const FederationRecord& r) { t.keys.emplace(Entity::kFederation, r.name); }
void touch(Touched& t, const ResourceRecord& r) { t.keys.emplace(Entity::kResource, std::to_string(r.id)); }

const AssociationRecord* Directory::association(const std::string& cluster, const std::string& account, const std::string& user,
                                                const std::string& partition) const {
  for (const auto& [id, a] : associations)
    if (a.account == account && a.user == user && a.cluster == cluster && a.partition == partition) return &a;
  return nullptr;
}

// A ring of parents, which no edit makes, ends the walk too.
std::string Directory::default_qos(const AssociationRecord* association, std::string_view otherwise) const {
  for (size_t depth = 0; association && depth <= associations.size(); ++depth) {
    if (!association->default_qos.empty()) return association->default_qos;
    const auto up = associations.find(association->parent_id);
    association = up == associations.end() ? nullptr : &up->second;
  }
  return std::string(otherwise);
}

std::vector<uint32_t> Directory::below(uint32_t id) const {
  std::multimap<uint32_t, uint32_t> children;
  for (const auto& [child, a] : associations) children.emplace(a.parent_id, child);
  std::vector<uint32_t> out{id};
  for (size_t i = 0; i < out.size(); ++i) {
    auto [first, last] = children.equal_range(out[i]);
    for (auto it = first; it != last; ++it) out.push_back(it->second);
  }
  return out;
}

bool has_users_as_coordinators(const Directory& directory, const std::string& account) {
  const AccountRecord* record = find_live(directory.accounts, account);
  return record && std::ranges::find(record->flags, kUsersAreCoords) != record->flags.end();
}

namespace {

// The accounts' own associations that make the user a coordinator of what is below them, too.
std::set<uint32_t> coordinated_tops(const Directory& directory, const std::string& user) {
  std::set<uint32_t> out;
  const UserRecord* record = find_live(directory.users, user);
  if (!record) return out;
  for (const auto& [id, a] : directory.associations) {
    if (a.deleted) continue;
    if (a.user.empty() && std::ranges::find(record->coordinator_of, a.account) != record->coordinator_of.end()) out.insert(id);
    if (a.user == user && has_users_as_coordinators(directory, a.account)) out.insert(a.parent_id);
  }
  return out;
}

// A ring of parents, which no edit makes, ends the walk too.
bool stands_below(const Directory& directory, const AssociationRecord* a, const std::set<uint32_t>& tops) {
  for (size_t depth = 0; a && depth <= directory.associations.size(); ++depth) {
    if (tops.contains(a->id)) return true;
    const auto up = directory.associations.find(a->parent_id);
    a = up == directory.associations.end() ? nullptr : &up->second;
  }
  return false;
}

}  // namespace

bool coordinates(const Directory& directory, const std::string& user, const std::string& cluster, const std::string& account) {
  const std::set<uint32_t> tops = coordinated_tops(directory, user);
  return !tops.empty() && stands_below(directory, directory.association(cluster, account), tops);
}

std::map<std::string, RecordAudience::Names, std::less<>> coordinated_accounts(const Directory& directory, const std::string& user) {
  std::map<std::string, RecordAudience::Names, std::less<>> out;
  const std::set<uint32_t> tops = coordinated_tops(directory, user);
  if (tops.empty()) return out;
  for (const auto& [id, a] : directory.associations)
    if (a.user.empty() && stands_below(directory, &a, tops)) out[a.cluster].insert(a.account);
  return out;
}

Directory initial_directory(Time now) {
  Directory directory;
  AccountRecord root;
  root.name = root.organization = "root";
  root.description = "default root account";
  root.created = root.modified = now;
  directory.accounts["root"] = root;
  UserRecord user;
  user.name = "root";
  user.admin_level = AdminLevel::kAdministrator;
  user.created = user.modified = now;
  directory.users["root"] = user;
  QosRecord normal;
  normal.id = ++directory.last_id;
  normal.name = "normal";
  normal.description = "Normal QOS default";
  normal.created = normal.modified = now;
  directory.qos["normal"] = normal;
  for (const auto& b : kBasicTres) directory.tres[b.id] = {b.id, b.type, b.name};
  return directory;
}

void add_cluster(Directory& directory, const std::string& name, const std::string& default_qos, Time now, Touched& touched) {
  ClusterRecord& cluster = directory.clusters[name];
  if (!cluster.name.empty() && !cluster.deleted) return;
  const Time created = cluster.created == kTimeUnset ? now : cluster.created;
  cluster = {};
  cluster.name = name;
  cluster.created = created;
  cluster.modified = now;
  touch(touched, cluster);
  const uint32_t root = add_root(directory, name, "", 0, default_qos, now, touched);
  add_root(directory, name, "root", root, "", now, touched);
}

void register_cluster(Directory& directory, const rpc::RegisterCluster& request, const std::string& default_qos, Time now,
                      Touched& touched) {
  const std::string name = to_lower(request.cluster.name);
  add_cluster(directory, name, default_qos, now, touched);
  ClusterRecord& cluster = directory.clusters[name];
  auto differs = [](const auto& a, const auto& b) { return !(a == b); };
  if (differs(cluster.control_host, request.cluster.control_host) || cluster.control_port != request.cluster.control_port ||
      cluster.rpc_version != request.cluster.rpc_version || differs(cluster.nodes, request.cluster.nodes) ||
      cluster.node_count != request.cluster.node_count || differs(cluster.tres, request.cluster.tres)) {
    cluster.control_host = request.cluster.control_host;
    cluster.control_port = request.cluster.control_port;
    cluster.rpc_version = request.cluster.rpc_version;
    cluster.nodes = request.cluster.nodes;
    cluster.node_count = request.cluster.node_count;
    cluster.tres = request.cluster.tres;
    touch(touched, cluster);
  }
  for (const std::string& tres : request.tracked_tres) add_tres(directory, to_lower(tres), touched);
}

}  // namespace muster::slurmdbd
