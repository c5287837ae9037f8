#include "slurmdbd/core/directory.h"

#include <algorithm>

#include "base/text.h"

namespace muster::slurmdbd {
namespace {

constexpr uint32_t kFirstOwnTres = 1001;
constexpr struct {
  uint32_t id;
  const char *type, *name;
} kBasicTres[] = {{1, "cpu", ""},     {2, "mem", ""},    {3, "energy", ""}, {4, "node", ""},
                  {5, "billing", ""}, {6, "fs", "disk"}, {7, "vmem", ""},   {8, "pages", ""}};

void add_root(Directory& directory, const std::string& cluster, const std::string& user, uint32_t parent, const std::string& default_qos,
              Time now, Touched& touched) {
  AssociationRecord association;
  association.id = ++directory.last_id;
  association.cluster = cluster;
  association.account = "root";
  association.user = user;
  association.parent_id = parent;
  association.is_default = !user.empty();
  if (user.empty()) association.qos = {"normal"};
  if (user.empty()) association.default_qos = default_qos;
  association.created = association.modified = now;
  touch(touched, association);
  directory.associations[association.id] = std::move(association);
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

bool coordinates(const Directory& directory, const std::string& user, const std::string& cluster, const std::string& account) {
  const UserRecord* record = find_live(directory.users, user);
  if (!record) return false;
  const AssociationRecord* association = directory.association(cluster, account);
  while (association) {
    if (std::ranges::find(record->coordinator_of, association->account) != record->coordinator_of.end()) return true;
    const AccountRecord* of = find_live(directory.accounts, association->account);
    if (of && std::ranges::find(of->flags, "UsersAreCoords") != of->flags.end() &&
        directory.association(cluster, association->account, user))
      return true;
    auto up = directory.associations.find(association->parent_id);
    association = up == directory.associations.end() ? nullptr : &up->second;
  }
  return false;
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
  cluster.name = name;
  cluster.deleted = false;
  if (cluster.created == kTimeUnset) cluster.created = now;
  cluster.modified = now;
  touch(touched, cluster);
  const AssociationRecord* root = directory.association(name, "root");
  if (root) {  // it existed before
    for (uint32_t id :
         {root->id, directory.association(name, "root", "root") ? directory.association(name, "root", "root")->id : root->id}) {
      directory.associations[id].deleted = false;
      touch(touched, directory.associations[id]);
    }
    return;
  }
  add_root(directory, name, "", 0, default_qos, now, touched);
  add_root(directory, name, "root", directory.last_id, "", now, touched);
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
