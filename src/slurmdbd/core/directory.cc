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

void add_root(Directory& d, const std::string& cluster, const std::string& user, uint32_t parent, const std::string& default_qos, Time now,
              Touched& t) {
  AssociationRecord a;
  a.id = ++d.last_id;
  a.cluster = cluster;
  a.account = "root";
  a.user = user;
  a.parent_id = parent;
  a.is_default = !user.empty();
  if (user.empty()) a.qos = {"normal"};
  if (user.empty()) a.default_qos = default_qos;
  a.created = a.modified = now;
  touch(t, a);
  d.associations[a.id] = std::move(a);
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

Directory initial_directory(Time now) {
  Directory d;
  AccountRecord root;
  root.name = root.organization = "root";
  root.description = "default root account";
  root.created = root.modified = now;
  d.accounts["root"] = root;
  UserRecord user;
  user.name = "root";
  user.admin_level = AdminLevel::kAdministrator;
  user.created = user.modified = now;
  d.users["root"] = user;
  QosRecord normal;
  normal.id = ++d.last_id;
  normal.name = "normal";
  normal.description = "Normal QOS default";
  normal.created = normal.modified = now;
  d.qos["normal"] = normal;
  for (const auto& b : kBasicTres) d.tres[b.id] = {b.id, b.type, b.name};
  return d;
}

void add_cluster(Directory& d, const std::string& name, const std::string& default_qos, Time now, Touched& t) {
  ClusterRecord& c = d.clusters[name];
  if (!c.name.empty() && !c.deleted) return;
  c.name = name;
  c.deleted = false;
  if (c.created == kTimeUnset) c.created = now;
  c.modified = now;
  touch(t, c);
  const AssociationRecord* root = d.association(name, "root");
  if (root) {  // it existed before
    for (uint32_t id : {root->id, d.association(name, "root", "root") ? d.association(name, "root", "root")->id : root->id}) {
      d.associations[id].deleted = false;
      touch(t, d.associations[id]);
    }
    return;
  }
  add_root(d, name, "", 0, default_qos, now, t);
  add_root(d, name, "root", d.last_id, "", now, t);
}

void register_cluster(Directory& d, const rpc::RegisterCluster& r, const std::string& default_qos, Time now, Touched& t) {
  const std::string name = to_lower(r.cluster.name);
  add_cluster(d, name, default_qos, now, t);
  ClusterRecord& c = d.clusters[name];
  auto differs = [](const auto& a, const auto& b) { return !(a == b); };
  if (differs(c.control_host, r.cluster.control_host) || c.control_port != r.cluster.control_port ||
      c.rpc_version != r.cluster.rpc_version || differs(c.nodes, r.cluster.nodes) || c.node_count != r.cluster.node_count ||
      differs(c.tres, r.cluster.tres)) {
    c.control_host = r.cluster.control_host;
    c.control_port = r.cluster.control_port;
    c.rpc_version = r.cluster.rpc_version;
    c.nodes = r.cluster.nodes;
    c.node_count = r.cluster.node_count;
    c.tres = r.cluster.tres;
    touch(t, c);
  }
  for (const std::string& tres : r.tracked_tres) add_tres(d, to_lower(tres), t);
}

}  // namespace muster::slurmdbd
