// Brings the state to what slurm.conf says: nodes and partitions are defined, changed, removed. Run at start and at reconfigure; since all
// of it is events, a replay does not depend on the files.
#include <algorithm>

#include "base/text.h"
#include "config/gres_conf.h"
#include "hostlist/hostlist.h"
#include "slurmctld/core/create_node.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/feature_boots.h"
#include "slurmctld/core/node_place.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

NodeSpec spec_of(const View& v, uint32_t index) {
  const config::Config& c = v.settings.config();
  NodeSpec spec = config::to_node_spec(c.nodes[index], c.scheduler_parameters.has("spec_cores_first"));
  spec.gres = config::devices_of(v.settings.loaded->gres, c, index);
  return spec;
}

}  // namespace

event::NodeStateChanged initial_state(const View& view, NodeId id, const NodeSpec& spec) {
  event::NodeStateChanged change;
  change.node = id;
  change.time = view.now;
  change.by = view.settings.slurm_user;
  change.reason = spec.initial_reason;
  const std::string& word = spec.initial_state;
  if (word == "CLOUD") {
    change.admin = NodeState::kIdle;
    change.flags = kNodeCloud | kNodePowerSave | kNodePoweredDown;
  } else if (word == "FUTURE") {
    change.admin = NodeState::kFuture;
  } else if (word == "DOWN") {
    change.admin = NodeState::kDown;
  } else if (word == "DRAIN") {
    change.flags = kNodeDrain;
  } else if (word == "FAIL") {
    change.flags = kNodeFail;
  } else if (word == "EXTERNAL") {
    change.admin = NodeState::kIdle;
    change.flags = kNodeExternal;
  }
  if (spec.dynamic) change.flags |= kNodeDynamicNorm;
  return change;
}

namespace {

// Weight and features that scontrol changed hold until slurm.conf is read again; this takes the changes back.
// `anew`: the node is defined anew, which makes all of its features active.
void take_back_updates(const View& view, const Node& n, const NodeSpec& spec, bool anew, Events& out) {
  event::NodeUpdated change = attributes_of(n);
  change.weight = spec.weight;
  change.features_active = features_configured(view, &n, spec);
  const FeatureList& would_be = anew ? spec.features : n.features_active;
  if (n.weight != spec.weight || would_be != change.features_active) out.push_back(std::move(change));
}

// What a boot can bring is not active before a node says so.
void set_aside_changeable(const View& view, NodeId id, const NodeSpec& spec, Events& out) {
  FeatureList active = features_configured(view, nullptr, spec);
  if (active != spec.features) out.push_back(event::NodeUpdated{id, spec.weight, std::move(active), spec.comment, spec.extra, {}, {}, {}});
}

// Returns the NodeId of each configured node, defining and removing on the way.
std::vector<NodeId> configure_nodes(const View& view, Events& out) {
  const config::Config& config = view.settings.config();
  std::vector<NodeId> ids;
  const auto unknown =
      static_cast<size_t>(std::ranges::count_if(config.nodes, [&](const config::NodeConfig& n) { return !view.cluster.node(n.name); }));
  const std::vector<NodeId> free = unknown ? free_node_ids(view.cluster, unknown) : std::vector<NodeId>();
  size_t taken = 0;
  Bitmap kept;
  for (uint32_t index = 0; index < config.nodes.size(); ++index) {
    NodeSpec spec = spec_of(view, index);
    const Node* known = view.cluster.node(spec.name);
    if (known) keep_place(*known, config.nodes[index], spec);
    NodeId id = known ? known->id : free[taken++];
    ids.push_back(id);
    if (known) kept.set(id.value);
    auto shared = std::make_shared<const NodeSpec>(std::move(spec));
    const bool anew = !known || !(*known->spec == *shared);
    if (anew) out.push_back(event::NodeDefined{id, shared, view.now});
    if (known) {
      take_back_updates(view, *known, *shared, anew, out);
      continue;
    }
    event::NodeStateChanged e = initial_state(view, id, *shared);
    if (e.admin != NodeState::kUnknown || e.flags) out.push_back(std::move(e));
    set_aside_changeable(view, id, *shared, out);
  }
  view.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (kept.test(id) || n.spec->dynamic) return;
    Node gone = n;
    gone.connected = false;  // no order can reach it any more
    set_node_down(view, gone, "removed from slurm.conf", out);
    out.push_back(event::NodeRemoved{n.id, view.now});
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

// ReconfigFlags: which of scontrol's changes to partitions stay: all of them, or those of their state.
struct Keep {
  bool all = false, state = false;
};
Keep keep_of(const config::Config& c) {
  auto has = [&](std::string_view name) {
    return std::ranges::any_of(c.reconfig_flags, [&](const std::string& f) { return iequals(f, name); });
  };
  return {has("KeepPartInfo"), has("KeepPartState")};
}

// A partition that scontrol made the default stays it, whichever one the files make the default.
void one_default(std::vector<Partition>& partitions, const config::Config& c) {
  auto by_scontrol = [&](const Partition& p) {
    auto file = std::ranges::find_if(c.partitions, [&](const config::PartitionConfig& pc) { return pc.spec.name == p.name; });
    return p.is_default && (file == c.partitions.end() || !file->spec.is_default);
  };
  auto chosen = std::ranges::find_if(partitions, by_scontrol);
  if (chosen == partitions.end()) return;
  for (Partition& p : partitions) p.is_default = p.is_default && p.name == chosen->name;
}

void configure_partitions(const View& view, const std::vector<NodeId>& ids, Events& out) {
  const config::Config& config = view.settings.config();
  const Keep keep = keep_of(config);
  uint32_t next = view.cluster.partitions.empty() ? 0 : view.cluster.partitions.last_key() + 1;
  Bitmap there;
  std::vector<const Node*> created;  // by scontrol
  for (NodeId id : ids) there.set(id.value);
  view.cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (!n.spec->dynamic) return;
    created.push_back(&n);
    there.set(id);
  });
  std::vector<Partition> partitions;
  for (const config::PartitionConfig& pc : config.partitions) {
    Partition p = pc.spec;
    const Partition* known = view.cluster.partition(p.name);
    p.index = known ? known->index : next++;
    p.nodes = to_node_ids(pc.spec.nodes, ids);
    for (const Node* n : created)
      if (config::means_node(config, p.nodes_text, *n->spec)) p.nodes.set(n->id.value);
    if (known && (keep.all || keep.state)) update_again(view, *known, !keep.all, p);
    p.nodes &= there;
    partitions.push_back(std::move(p));
  }
  Bitmap kept;
  if (keep.all)
    view.cluster.partitions.for_each([&](uint32_t i, const Partition& p) {
      auto same = [&](const Partition& other) { return other.index == i; };
      if (p.created && std::ranges::none_of(partitions, same)) partitions.push_back(p);
    });
  one_default(partitions, config);
  for (Partition& p : partitions) {
    kept.set(p.index);
    const Partition* known = view.cluster.partitions.find(p.index);
    if (!known || !(*known == p)) out.push_back(event::PartitionDefined{std::make_shared<const Partition>(std::move(p)), view.now});
  }
  view.cluster.partitions.for_each([&](uint32_t i, const Partition&) {
    if (!kept.test(i)) out.push_back(event::PartitionRemoved{i, view.now});
  });
}

}  // namespace

Events decide_configure(const View& view) {
  const config::Config& config = view.settings.config();
  Events out;
  if (view.cluster.name != config.cluster_name) out.push_back(event::ClusterNamed{config.cluster_name, JobId(config.first_job_id)});
  std::vector<NodeId> ids = configure_nodes(view, out);
  configure_partitions(view, ids, out);
  configure_topology(view, ids, out);
  bool accounting = keeps_records(config);
  if (view.cluster.accounting != accounting) out.push_back(event::AccountingSet{accounting, view.now});
  if (const Duration half_life = view.settings.priority.half_life; view.cluster.usage_rule.half_life != half_life)
    out.push_back(event::HalfLifeSet{half_life, view.now});
  if (view.settings.priority.usage_reset == UsageResetPeriod::kNow) out.push_back(event::UsageReset{0, {}, view.now});
  return out;
}

}  // namespace muster::slurmctld
