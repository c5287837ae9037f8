#include "slurmctld/core/create_node.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/gres_conf.h"
#include "config/hosts.h"
#include "config/runtime.h"
#include "model/request_texts.h"

namespace muster::slurmctld {
namespace {

// What stands between quotes in the line must not end them, and a key must be a word.
Result<> check_key(const rpc::KeyValue& kv) {
  const auto is_letter = [](unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  if (kv.key.empty() || !std::ranges::all_of(kv.key, is_letter))
    return fail(Errc::kInvalidArgument, "'" + kv.key.substr(0, 40) + "' is no key of a node");
  const auto is_bad = [](unsigned char c) { return c == '"' || c < ' ' || c == 127; };
  if (std::ranges::any_of(kv.value, is_bad)) return fail(Errc::kInvalidArgument, kv.key + " must not contain quotes or control characters");
  return {};
}

// Each GPU costs a bit wherever devices are handed out; no machine has as many as a line can say.
Result<> check_devices(const Parsed<GresItems>& gres) {
  constexpr uint64_t kMost = 1024;
  uint64_t gpus = 0;
  for (const GresItem& item : gres->list)
    if (item.name == "gpu") gpus += std::min(item.count, kMost + 1);
  if (gpus <= kMost) return {};
  return fail(Errc::kInvalidGres, {}, "Gres: a node has at most " + std::to_string(kMost) + " GPUs");
}

// A node as it will be once the events of this decision are applied.
struct NewNode {
  NodeId id{};
  std::shared_ptr<const NodeSpec> spec;
};

// Defines anew the partitions whose nodes `change(partition's text, nodes)` makes others.
template <class Change>
void change_partitions(const View& v, Change change, Events& out) {
  v.cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    Partition changed = p;
    change(p.nodes_text, changed.nodes);
    if (!(changed.nodes == p.nodes)) out.push_back(event::PartitionDefined{std::make_shared<const Partition>(std::move(changed)), v.now});
  });
}

// Has each partition hold those of the nodes that its Nodes= means, and no other of them.
void join_partitions(const View& v, const std::vector<NewNode>& nodes, Events& out) {
  change_partitions(
      v,
      [&](const auto& meant, Bitmap& has) {
        for (const auto& [id, spec] : nodes) has.assign(id.value, config::means_node(v.settings.config(), meant, *spec));
      },
      out);
}

// Puts each node where its Topology= says; "" is nowhere.
Result<> join_topologies(const View& v, const std::vector<NewNode>& nodes, Events& out) {
  const Topologies before = v.cluster.topologies ? *v.cluster.topologies : Topologies{};
  Topologies after = before;
  for (const auto& [id, spec] : nodes) {
    if (before.all.empty() && spec->topology.empty()) continue;
    MUSTER_TRY_VOID(place_node(after, id.value, spec->topology));
  }
  if (!(after == before)) out.push_back(event::TopologyDefined{std::make_shared<const Topologies>(std::move(after))});
  return {};
}

// MaxNodeCount; without it there is room for the nodes of slurm.conf only.
Result<> check_room(const View& view, size_t more) {
  const size_t bound = config::most_nodes(view.settings.config());
  if (view.cluster.nodes.size() + more <= bound) return {};
  return fail(Errc::kInvalidNodeCount, {},
              "there is room for " + std::to_string(bound) +
                  " nodes; MaxNodeCount in slurm.conf makes more, and without it there are those of slurm.conf only");
}

std::string reserved_by(const Cluster& cluster, NodeId node) {
  std::string out;
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (out.empty() && r.nodes.test(node.value)) out = r.name;
  });
  return out;
}

// Why the node cannot be deleted; "": it can.
std::string kept_by(const View& view, const Node& node) {
  if (!node.spec->dynamic) return "node " + node.spec->name + " is in slurm.conf; only nodes that were created can be deleted";
  if (const std::string by = reserved_by(view.cluster, node.id); !by.empty()) return "node " + node.spec->name + " is in reservation " + by;
  return view.indexes.jobs_on(node.id).empty() ? "" : "jobs run on node " + node.spec->name;
}

// Takes the nodes out of all partitions and topologies.
void leave_all(const View& view, const std::set<uint32_t>& gone, Events& out) {
  change_partitions(
      view,
      [&](const auto&, Bitmap& has) {
        for (uint32_t id : gone) has.reset(id);
      },
      out);
  if (!view.cluster.topologies) return;
  Topologies left = *view.cluster.topologies;
  for (uint32_t id : gone) (void)place_node(left, id, "");  // nowhere is always possible
  if (!(left == *view.cluster.topologies)) out.push_back(event::TopologyDefined{std::make_shared<const Topologies>(std::move(left))});
}

}  // namespace

std::vector<NodeId> free_node_ids(const Cluster& cluster, size_t count) {
  Bitmap taken;
  cluster.nodes.for_each([&](uint32_t id, const Node&) { taken.set(id); });
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.allocation) return;
    for (const NodeShare& share : job.allocation->nodes) taken.set(share.node.value);
  });
  std::vector<NodeId> out;
  for (uint32_t id = 0; out.size() < count; ++id)
    if (!taken.test(id)) out.emplace_back(id);
  return out;
}

Result<std::vector<NodeSpec>> read_node_line(const config::Config& config, const std::string& names,
                                             const std::vector<rpc::KeyValue>& keys) {
  std::string line = "NodeName=" + names;
  for (const rpc::KeyValue& kv : keys) {
    MUSTER_TRY_VOID(check_key(kv));
    line += " " + kv.key + "=\"" + kv.value + "\"";
  }
  config::Config alone;  // no file says anything of these nodes
  alone.gres_types = config.gres_types;
  MUSTER_TRY(nodes, config::parse_node_line(config, line));
  alone.nodes = std::move(nodes);
  std::vector<NodeSpec> out;
  for (uint32_t index = 0; index < alone.nodes.size(); ++index) {
    NodeSpec spec = config::to_node_spec(alone.nodes[index]);
    spec.dynamic = true;
    MUSTER_TRY_VOID(check_devices(spec.gres_text));
    spec.gres = config::devices_of({}, alone, index);
    out.push_back(std::move(spec));
  }
  return out;
}

Result<> add_nodes(const View& view, std::vector<NodeSpec> specs, Events& out) {
  for (const NodeSpec& spec : specs)
    if (view.cluster.node(spec.name)) return fail(Errc::kInvalidNodeName, {}, "node " + spec.name + " exists already");
  MUSTER_TRY_VOID(check_room(view, specs.size()));
  const std::vector<NodeId> ids = free_node_ids(view.cluster, specs.size());
  std::vector<NewNode> created;
  for (NodeSpec& spec : specs) {
    const NodeId id = ids[created.size()];
    event::NodeStateChanged state = initial_state(view, id, spec);
    created.push_back({id, std::make_shared<const NodeSpec>(std::move(spec))});
    out.push_back(event::NodeDefined{id, created.back().spec, view.now});
    out.push_back(std::move(state));
  }
  join_partitions(view, created, out);
  return join_topologies(view, created, out);
}

Result<> redefine_node(const View& view, const Node& node, NodeSpec spec, Events& out) {
  if (*node.spec == spec) return {};
  const NewNode changed{node.id, std::make_shared<const NodeSpec>(std::move(spec))};
  out.push_back(event::NodeDefined{changed.id, changed.spec, view.now});
  join_partitions(view, {changed}, out);
  return node.topology || changed.spec->topology == node.spec->topology ? Result<>() : join_topologies(view, {changed}, out);
}

Result<Decision<rpc::Messages>> create_nodes(const View& view, const rpc::UpdateNode& request) {
  MUSTER_TRY(specs, read_node_line(view.settings.config(), request.nodes, request.changes));
  for (const NodeSpec& spec : specs)
    if (!spec.cloud && !spec.future && !spec.external)
      return fail(Errc::kInvalidNodeState, {}, "only State=CLOUD, State=FUTURE and State=EXTERNAL nodes can be created");
  Decision<rpc::Messages> out;
  MUSTER_TRY_VOID(add_nodes(view, std::move(specs), out.events));
  return out;
}

Result<Decision<rpc::Messages>> delete_nodes(const View& view, const rpc::UpdateNode& request) {
  MUSTER_TRY(nodes, select_nodes(view, request.nodes));
  Decision<rpc::Messages> out;
  std::optional<Error> first;
  std::set<uint32_t> gone;
  for (const Node* node : nodes) {
    Error why(Errc::kNodesBusy);
    why.hint = kept_by(view, *node);
    if (why.hint.empty()) {
      gone.insert(node->id.value);
      continue;
    }
    if (!first) first = why;
    out.reply.errors.push_back({node->spec->name, errc_number(why.code), std::string(why.message())});
  }
  if (first && gone.empty()) return std::unexpected(*first);
  leave_all(view, gone, out.events);
  for (uint32_t id : gone) out.events.push_back(event::NodeRemoved{NodeId(id), view.now});
  return out;
}

}  // namespace muster::slurmctld
