// From the state as it is to what slurm.conf says: nodes and partitions defined, changed, removed. Run at start and at
// reconfigure; the events make a replay independent of the files.
#include <algorithm>

#include "base/text.h"
#include "config/gres_conf.h"
#include "hostlist/hostlist.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

NodeSpec spec_of(const View& v, uint32_t index) {
  const config::Config& c = v.settings.config();
  NodeSpec spec = config::to_node_spec(c.nodes[index], c.scheduler_parameters.has("spec_cores_first"));
  spec.gres = config::devices_of(v.settings.loaded->gres, c, index);
  return spec;
}

}  // namespace

event::NodeStateChanged initial_state(const View& v, NodeId id, const NodeSpec& spec) {
  event::NodeStateChanged e;
  e.node = id;
  e.time = v.now;
  e.by = v.settings.slurm_user;
  e.reason = spec.initial_reason;
  const std::string& s = spec.initial_state;
  if (s == "CLOUD") {
    e.admin = NodeState::kIdle;
    e.flags = kNodeCloud | kNodePowerSave | kNodePoweredDown;
  } else if (s == "FUTURE") {
    e.admin = NodeState::kFuture;
  } else if (s == "DOWN") {
    e.admin = NodeState::kDown;
  } else if (s == "DRAIN") {
    e.flags = kNodeDrain;
  } else if (s == "FAIL") {
    e.flags = kNodeFail;
  } else if (s == "EXTERNAL") {
    e.admin = NodeState::kIdle;
    e.flags = kNodeExternal;
  }
  return e;
}

namespace {

// What scontrol changed of a known node holds until slurm.conf is read again: weight and features.
void take_back_updates(const Node& n, const NodeSpec& spec, Events& out) {
  if (n.weight == spec.weight && n.features_active == spec.features) return;
  out.push_back(event::NodeUpdated{n.id, spec.weight, spec.features, n.comment, n.extra, n.instance_id, n.instance_type, n.topology});
}

// Returns the NodeId of each configured node, defining and removing on the way.
std::vector<NodeId> configure_nodes(const View& v, Events& out) {
  const config::Config& c = v.settings.config();
  std::vector<NodeId> ids;
  uint32_t next = v.cluster.nodes.empty() ? 0 : v.cluster.nodes.last_key() + 1;
  Bitmap kept;
  for (uint32_t i = 0; i < c.nodes.size(); ++i) {
    NodeSpec spec = spec_of(v, i);
    const Node* known = v.cluster.node(spec.name);
    NodeId id = known ? known->id : NodeId(next++);
    ids.push_back(id);
    if (known) kept.set(id.value);
    auto shared = std::make_shared<const NodeSpec>(std::move(spec));
    if (!known || !(*known->spec == *shared)) out.push_back(event::NodeDefined{id, shared, v.now});
    if (known) {
      take_back_updates(*known, *shared, out);
      continue;
    }
    event::NodeStateChanged e = initial_state(v, id, *shared);
    if (e.admin != NodeState::kUnknown || e.flags) out.push_back(std::move(e));
  }
  v.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (kept.test(id) || n.spec->dynamic) return;
    Node gone = n;
    gone.connected = false;   // no order can reach it any more
    set_node_down(v, gone, "removed from slurm.conf", out);
    out.push_back(event::NodeRemoved{n.id});
  });
  return ids;
}

Bitmap to_node_ids(const Bitmap& by_index, const std::vector<NodeId>& ids) {
  Bitmap out(ids.size());
  by_index.for_each([&](size_t i) {
    if (i < ids.size()) out.set(ids[i].value);
  });
  return out;
}

void configure_partitions(const View& v, const std::vector<NodeId>& ids, Events& out) {
  const config::Config& c = v.settings.config();
  uint32_t next = v.cluster.partitions.empty() ? 0 : v.cluster.partitions.last_key() + 1;
  Bitmap kept, created;   // nodes that scontrol created belong to ALL, too
  v.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (n.spec->dynamic) created.set(id);
  });
  for (const config::PartitionConfig& pc : c.partitions) {
    Partition p = pc.spec;
    const Partition* known = v.cluster.partition(p.name);
    p.index = known ? known->index : next++;
    p.nodes = to_node_ids(pc.spec.nodes, ids);
    if (iequals(p.nodes_text, "ALL")) p.nodes |= created;
    if (known) kept.set(known->index);
    if (!known || !(*known == p)) out.push_back(event::PartitionDefined{std::move(p)});
  }
  v.cluster.partitions.for_each([&](uint32_t i, const Partition&) {
    if (!kept.test(i)) out.push_back(event::PartitionRemoved{i});
  });
}

}  // namespace

Events decide_configure(const View& v) {
  const config::Config& c = v.settings.config();
  Events out;
  if (v.cluster.name != c.cluster_name) out.push_back(event::ClusterNamed{c.cluster_name, JobId(c.first_job_id)});
  std::vector<NodeId> ids = configure_nodes(v, out);
  configure_partitions(v, ids, out);
  configure_topology(v, ids, out);
  return out;
}

}  // namespace muster::slurmctld
