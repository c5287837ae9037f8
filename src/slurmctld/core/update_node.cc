// scontrol update of nodes: one row per key and per state. scontrol(1), NODES - SPECIFICATIONS FOR UPDATE COMMAND. What slurm.conf says too
// (addresses, features, GRES) holds until it is read again. Nodes that are created and deleted: create_node.h.
#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "sched/fit/request_class.h"
#include "slurmctld/core/create_node.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/feature_boots.h"
#include "slurmctld/core/node_place.h"
#include "slurmctld/core/quarantine.h"
#include "slurmctld/core/update_keys.h"

namespace muster::slurmctld {
namespace {

struct NodeUpdate {
  const View& v;
  const Node& n;
  size_t index = 0, count = 1;  // among the nodes of the command, for lists of one value a node
  event::NodeStateChanged state;
  event::NodeUpdated attributes;
  NodeSpec spec;
  Topologies& topologies;  // of the site, as all nodes of the command leave them
  WakeRoom& room;          // for all of them
  Events& out;
  std::vector<Order>& orders;
  bool state_changed = false, attributes_changed = false, spec_changed = false, reason_given = false, kill_jobs = false;
};
using Setter = Result<> (*)(NodeUpdate&, const rpc::KeyValue&);

// ---- State=
struct StateRow {
  const char* name;
  NodeState admin = NodeState::kUnknown;  // kUnknown: leave
  uint32_t set = 0, clear = 0;
  bool needs_reason = false, clears_reason = false;
};
constexpr uint32_t kHealth = kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid;
constexpr StateRow kStates[] = {
    {"NoResp", NodeState::kUnknown, kNodeNoRespond},
    {"DRAIN", NodeState::kUnknown, kNodeDrain, 0, true},
    {"DRAINED", NodeState::kUnknown, kNodeDrain, 0, true},
    {"DRAINING", NodeState::kUnknown, kNodeDrain, 0, true},
    {"FAIL", NodeState::kUnknown, kNodeFail, 0, true},
    {"FAILING", NodeState::kUnknown, kNodeFail, 0, true},
    {"DOWN", NodeState::kDown, 0, 0, true},
    {"FUTURE", NodeState::kFuture, 0, kHealth, false, true},
    {"IDLE", NodeState::kIdle, 0, kHealth, false, true},
    {"RESUME", NodeState::kIdle, 0, kHealth | kNodeRebootRequested | kNodePoweringDown, false, true},
    {"UNDRAIN", NodeState::kUnknown, 0, kNodeDrain | kNodeFail, false, true},
};
struct ActionRow {
  const char* name;
  rpc::NodeAction action;
  bool asap = false, force = false;
};
constexpr ActionRow kActions[] = {
    {"CANCEL_REBOOT", rpc::NodeAction::kCancelReboot},
    {"POWER_UP", rpc::NodeAction::kPowerUp},
    {"POWER_DOWN", rpc::NodeAction::kPowerDown},
    {"POWER_DOWN_ASAP", rpc::NodeAction::kPowerDown, true},
    {"POWER_DOWN_FORCE", rpc::NodeAction::kPowerDown, false, true},
};

Result<> act(NodeUpdate& u, const ActionRow& row) {
  rpc::ControlNodes c;
  c.action = row.action;
  c.asap = row.asap;
  c.force = row.force;
  if (u.reason_given) c.reason = u.state.reason;
  u.state_changed = false;  // the event of the action says the reason
  return control_node(u.v, u.n, c, u.room, u.out, u.orders);
}

// A machine that came with slurmd -F is the node no longer: slurm.conf(5) Dynamic Future Nodes.
void give_back_future(NodeUpdate& u) {
  u.state.flags &= ~kNodeDynamicFuture;
  forget_place(u.v, u.spec);
  u.spec_changed = true;
}

// RESUME of a node that is going down. Where its slurmd is connected it stays up; else the machine is gone, and SuspendTimeout is not waited for.
void stop_powering_down(NodeUpdate& u) {
  u.state.resume_deadline = kTimeUnset;
  if (u.n.connected) return;
  u.state.flags |= kNodePoweredDown | kNodePowerSave;
  end_jobs_of(u.v, u.n, u.out);
  if (auto left = without_machine(u.v, u.n)) {
    u.spec.address = left->address;
    u.spec.hostname = left->hostname;
    u.spec_changed = true;
  }
}

Result<> set_state(NodeUpdate& update, const rpc::KeyValue& kv) {
  for (const ActionRow& row : kActions)
    if (iequals(kv.value, row.name)) return act(update, row);
  for (const StateRow& row : kStates) {
    if (!iequals(kv.value, row.name)) continue;
    if (row.needs_reason && !update.reason_given && update.n.reason.empty())
      return fail(Errc::kInvalidArgument, "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    if (row.admin != NodeState::kUnknown) update.state.admin = row.admin;
    bool never_seen = !update.n.hardware && !(update.n.flags & (kNodePoweredDown | kNodeCloud));
    if (row.admin == NodeState::kIdle && never_seen) update.state.admin = NodeState::kUnknown;
    update.state.flags = (update.state.flags & ~row.clear) | row.set;
    if (row.clear & kNodeDrain) update.state.action_drained = false;
    if ((row.clear & kNodePoweringDown) && (update.n.flags & kNodePoweringDown)) stop_powering_down(update);
    if (row.clears_reason) update.state.reason.clear();  // also one that is given
    if (row.admin == NodeState::kFuture && (update.state.flags & kNodeDynamicFuture)) give_back_future(update);
    update.kill_jobs = row.admin == NodeState::kDown;
    update.state_changed = true;
    return {};
  }
  return fail(Errc::kInvalidArgument, "Invalid input: " + kv.key + "=" + kv.value,
              "Valid states are: NoResp DRAIN FAIL FUTURE RESUME POWER_DOWN POWER_UP UNDRAIN DOWN IDLE CANCEL_REBOOT");
}

// ---- the other keys
Result<> set_resume_after(NodeUpdate& u, const rpc::KeyValue& kv) {
  auto s = parse_number<int64_t>(kv.value, -1, 100'000'000);
  if (!s || *s == 0) return fail(Errc::kInvalidArgument, "ResumeAfter value (" + kv.value + ") is not a valid number of seconds, or -1");
  u.state.resume_after = *s < 0 ? kTimeUnset : u.v.now + seconds(*s);
  u.state_changed = true;
  return {};
}
Result<> set_weight(NodeUpdate& u, const rpc::KeyValue& kv) {
  auto w = parse_number<uint32_t>(kv.value);
  if (!w) return fail(Errc::kInvalidArgument, "Weight value (" + kv.value + ") is not a valid number");
  u.attributes.weight = *w;
  u.attributes_changed = true;
  return {};
}
template <auto Member>
Result<> set_text(NodeUpdate& u, const rpc::KeyValue& kv) {
  u.attributes.*Member = kv.value;
  u.attributes_changed = true;
  return {};
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (auto w : split(text, ',')) out.emplace_back(w);
  return out;
}
Result<> set_active_features(NodeUpdate& u, const rpc::KeyValue& kv) {
  u.attributes.features_active = words(kv.value);
  FeatureList available = u.spec.features;
  if (u.n.hardware) available.insert(available.end(), u.n.hardware->changeable.begin(), u.n.hardware->changeable.end());
  if (!contains_all(available, u.attributes.features_active)) return fail(Errc::kActiveFeaturesNotAvailable);
  u.attributes_changed = true;
  return {};
}
// Features=, AvailableFeatures=: these become the active features too, unless those are named themselves.
Result<> set_available_features(NodeUpdate& u, const rpc::KeyValue& kv) {
  u.spec.features = words(kv.value);
  u.attributes.features_active = u.spec.features;
  u.spec_changed = u.attributes_changed = true;
  return {};
}

// One name for each node of the command, or one for the only node.
Result<std::string> one_of_list(const NodeUpdate& u, const rpc::KeyValue& kv) {
  MUSTER_TRY(names, expand_hosts(kv.value));
  if (names.size() != u.count)
    return fail(Errc::kInvalidNodeName, {},
                kv.key + "=" + kv.value + " has " + std::to_string(names.size()) + " names for " + std::to_string(u.count) + " nodes");
  return names[u.index];
}
template <auto Member>
Result<> set_spec_name(NodeUpdate& u, const rpc::KeyValue& kv) {
  MUSTER_TRY(name, one_of_list(u, kv));
  u.spec.*Member = name;
  u.spec_changed = true;
  return {};
}
template <auto Member>
Result<> set_instance(NodeUpdate& u, const rpc::KeyValue& kv) {
  if (kv.value.empty()) u.attributes.*Member = "";
  else {
    MUSTER_TRY(name, one_of_list(u, kv));
    u.attributes.*Member = name;
  }
  u.attributes_changed = true;
  return {};
}

// The count of a GRES without devices may be anything; that of devices stays, or becomes zero.
Result<> set_gres(NodeUpdate& update, const rpc::KeyValue& kv) {
  const Parsed<GresItems> given(kv.value);
  if (!given.parsed()) return fail(Errc::kInvalidGres, {}, std::string(given.parsed().error().message()));
  std::vector<GresDevices> next;
  for (const GresItem& item : given->list) {
    const std::vector<std::string>& types = update.v.settings.config().gres_types;
    if (std::ranges::find(types, item.name) == types.end()) return fail(Errc::kInvalidGres, {}, "'" + item.name + "' is not in GresTypes");
    std::vector<GresDevices> configured;
    for (const GresDevices& g : update.n.spec->gres)
      if (g.name == item.name && (item.type.empty() || g.type == item.type)) configured.push_back(g);
    uint64_t devices = 0;
    for (const GresDevices& g : configured) devices += g.count_only ? 0 : g.count;
    if (item.count == 0) continue;
    if (devices && item.count != devices)
      return fail(Errc::kInvalidGres, {}, "the devices of gres/" + item.name + " are in gres.conf; here their count may only become 0");
    if (devices) {
      next.insert(next.end(), configured.begin(), configured.end());
      continue;
    }
    GresDevices g;
    g.name = item.name;
    g.type = item.type;
    g.count = item.count;
    g.count_only = true;
    next.push_back(std::move(g));
  }
  if (!update.n.gres_used.empty()) return fail(Errc::kNodesBusy, {}, "jobs use generic resources of node " + update.spec.name);
  update.spec.gres = std::move(next);
  update.spec.gres_text = given;
  update.spec_changed = true;
  return {};
}

Result<> refuse_cpu_bind(NodeUpdate&, const rpc::KeyValue&) {
  return fail(Errc::kNotSupportedHere, {}, "a node's CpuBind is read from slurm.conf by its slurmd; change it there and reconfigure");
}
Result<> refuse_cert_token(NodeUpdate&, const rpc::KeyValue&) {
  return fail(Errc::kNotSupportedHere, {}, "there is no certmgr plugin: daemons prove themselves by the cluster key or munge");
}
Result<> set_topology(NodeUpdate& u, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID(place_node(u.topologies, u.n.id.value, kv.value));
  u.attributes.topology = kv.value;
  u.attributes_changed = true;
  return {};
}

struct Key {
  const char* name;
  Setter set;
};
// The keys in the order in which they are applied: features before active features, the state last.
constexpr Key kKeys[] = {
    {"Weight", set_weight},
    {"Comment", set_text<&event::NodeUpdated::comment>},
    {"Extra", set_text<&event::NodeUpdated::extra>},
    {"InstanceId", set_instance<&event::NodeUpdated::instance_id>},
    {"InstanceType", set_instance<&event::NodeUpdated::instance_type>},
    {"NodeAddr", set_spec_name<&NodeSpec::address>},
    {"NodeHostname", set_spec_name<&NodeSpec::hostname>},
    {"Gres", set_gres},
    {"AvailableFeatures", set_available_features},
    {"Features", set_available_features},
    {"ActiveFeatures", set_active_features},
    {"CertToken", refuse_cert_token},
    {"CpuBind", refuse_cpu_bind},
    {"Topology", set_topology},
    {"ResumeAfter", set_resume_after},
    {"State", set_state},
};

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::string_view n : names) out += (out.empty() ? "" : ", ") + std::string(n);
  return out;
}

Result<> check_keys(const std::vector<rpc::KeyValue>& changes) {
  std::vector<std::string_view> known = {"Reason"};
  for (const Key& k : kKeys) known.push_back(k.name);
  for (const rpc::KeyValue& kv : changes) {
    if (std::ranges::any_of(known, [&](std::string_view k) { return iequals(k, kv.key); })) continue;
    std::string_view meant = did_you_mean(kv.key, known);
    return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
                meant.empty() ? "a node has: " + joined(known) : "did you mean " + std::string(meant) + "?");
  }
  return {};
}

void take_reason(NodeUpdate& u, const std::vector<rpc::KeyValue>& changes) {
  for (const rpc::KeyValue& kv : changes) {
    if (!iequals(kv.key, "Reason")) continue;
    u.reason_given = !kv.value.empty();
    u.state.reason = kv.value;
    u.state.by = u.v.caller.uid;
    u.state.time = u.v.now;
    u.state_changed = true;
  }
}

Result<> update_one(const View& view, const Node& node, size_t index, size_t count, const std::vector<rpc::KeyValue>& changes,
                    Topologies& topologies, WakeRoom& room, Decision<rpc::Messages>& decision) {
  NodeUpdate update{view,       node,       index, count,           state_of(node, view.now), attributes_of(node),
                    *node.spec, topologies, room,  decision.events, decision.orders};
  take_reason(update, changes);
  for (const Key& key : kKeys)
    for (const rpc::KeyValue& kv : changes)
      if (iequals(kv.key, key.name)) MUSTER_TRY_VOID(key.set(update, kv));
  if (update.kill_jobs) set_node_down(view, node, update.state.reason, decision.events);
  if (update.spec_changed)
    decision.events.push_back(event::NodeDefined{node.id, std::make_shared<const NodeSpec>(std::move(update.spec)), view.now});
  if (update.state_changed) {
    lift_quarantine(view, node, decision.events);
    decision.events.push_back(update.state);
  }
  if (update.attributes_changed) decision.events.push_back(update.attributes);
  return {};
}

}  // namespace

event::NodeStateChanged state_of(const Node& node, Time now) {
  event::NodeStateChanged change;
  change.node = node.id;
  change.admin = node.admin;
  change.flags = node.flags;
  change.reason = node.reason;
  change.by = node.reason_uid;
  change.time = now;
  change.resume_deadline = node.resume_deadline;
  change.resume_after = node.resume_after;
  change.next_state = node.next_state;
  change.reboot_issued = node.reboot_issued;
  change.action_drained = node.action_drained;
  constexpr uint32_t kUnderWay = kNodeRebootRequested | kNodeRebootIssued | kNodePowerDownRequested | kNodePoweringDown | kNodePoweringUp;
  if (node.flags & kUnderWay) change.power_action = node.power_action;
  if (node.flags & kNodeRebootIssued) change.boot_features = node.boot_features;
  return change;
}

Result<std::vector<const Node*>> select_nodes(const View& view, const std::string& text) {
  std::vector<const Node*> out;
  if (iequals(text, "ALL")) {
    view.cluster.nodes.for_each([&](uint32_t, const Node& n) { out.push_back(&n); });
    return out;
  }
  const config::Config& config = view.settings.config();
  MUSTER_TRY(names, sched::names_meant(view.cluster, text));
  for (const std::string& name : names) {
    if (const Node* n = view.cluster.node(name)) {
      out.push_back(n);
      continue;
    }
    auto set = std::ranges::find_if(config.node_sets, [&](const config::NodeSetConfig& s) { return s.name == name; });
    if (set == config.node_sets.end()) return fail(Errc::kInvalidNodeName, {}, "no node and no node set is called '" + name + "'");
    set->nodes.for_each([&](size_t i) {
      if (const Node* n = view.cluster.node(config.nodes[i].name)) out.push_back(n);
    });
    view.cluster.nodes.for_each([&](uint32_t, const Node& n) {
      if (n.spec->dynamic && config::means_node(config, name, *n.spec)) out.push_back(&n);
    });
  }
  if (out.empty()) return fail(Errc::kInvalidNodeName);
  return out;
}

Result<Decision<rpc::Messages>> decide(const View& view, const rpc::UpdateNode& request) {
  MUSTER_TRY_VOID(check_texts(request.changes));
  if (request.create) return create_nodes(view, request);
  if (request.remove) return delete_nodes(view, request);
  std::vector<rpc::KeyValue> changes = with_whole_keys(request.changes, kKeys);
  for (rpc::KeyValue& kv : changes)
    if (kv.key.size() > 2 && istarts_with("Reason", kv.key)) kv.key = "Reason";
  MUSTER_TRY_VOID(check_keys(changes));
  MUSTER_TRY(nodes, select_nodes(view, request.nodes));
  Decision<rpc::Messages> d;
  const Topologies before = view.cluster.topologies ? *view.cluster.topologies : Topologies{};
  Topologies after = before;
  WakeRoom room(view);
  for (size_t i = 0; i < nodes.size(); ++i) MUSTER_TRY_VOID(update_one(view, *nodes[i], i, nodes.size(), changes, after, room, d));
  if (!(after == before)) d.events.push_back(event::TopologyDefined{std::make_shared<const Topologies>(std::move(after))});
  return d;
}

}  // namespace muster::slurmctld
