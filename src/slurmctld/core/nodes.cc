// Nodes: registration, silence, power, and scontrol update node.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

event::NodeStateChanged state_of(const View& v, const Node& n) {
  event::NodeStateChanged e;
  e.node = n.id;
  e.admin = n.admin;
  e.flags = n.flags;
  e.reason = n.reason;
  e.by = n.reason_uid;
  e.time = n.reason.empty() ? v.now : n.reason_time;
  e.resume_deadline = n.resume_deadline;
  e.resume_after = n.resume_after;
  return e;
}

// The node's place in the job's allocation.
Bitmap nodes_of(const Job& job, NodeId node) {
  Bitmap here(job.allocation->nodes.size());
  for (size_t i = 0; i < job.allocation->nodes.size(); ++i)
    if (job.allocation->nodes[i].node == node) here.set(i);
  return here;
}

// What the node has less of than slurm.conf says, in the words of slurmctld's log; "" when it is enough.
std::string shortfall(const NodeSpec& spec, const NodeHardware& hw) {
  auto low = [](const char* what, uint64_t found, uint64_t configured) {
    return std::string("Low ") + what + " (reported:" + std::to_string(found) + " < " + "100.00% of configured:" + std::to_string(configured) + ")";
  };
  if (hw.cpus < spec.cpus) return low("CPUs", hw.cpus, spec.cpus);
  if (hw.sockets * hw.cores_per_socket * hw.threads_per_core < spec.sockets * spec.cores_per_socket * spec.threads_per_core)
    return low("socket*core*thread count", hw.sockets * hw.cores_per_socket * hw.threads_per_core,
               spec.sockets * spec.cores_per_socket * spec.threads_per_core);
  if (hw.real_memory_mb < spec.real_memory_mb) return low("RealMemory", hw.real_memory_mb, spec.real_memory_mb);
  if (hw.tmp_disk_mb < spec.tmp_disk_mb) return low("TmpDisk", hw.tmp_disk_mb, spec.tmp_disk_mb);
  std::vector<std::pair<std::string, uint64_t>> wanted;
  for (const GresDevices& g : spec.gres) {
    uint64_t configured = 0, found = 0;
    for (const GresDevices& x : spec.gres) configured += x.name == g.name ? x.count : 0;
    for (const GresDevices& x : hw.gres) found += x.name == g.name ? x.count : 0;
    if (found < configured)
      return "gres/" + g.name + " count reported lower than configured (" + std::to_string(found) + " < " + std::to_string(configured) + ")";
  }
  return {};
}

// The machine came up anew: whatever ran on it is gone, also a script whose start was not reported any more. A job that still
// waits for its nodes to boot has run nowhere.
bool lost_by_reboot(const View& v, NodeId node, const Job& j, const node_rpc::Register& r) {
  const Node& n = v.cluster.nodes.at(node.value);
  bool rebooted = n.hardware && n.hardware->boot_id != r.hardware.boot_id;
  bool batch_here = j.request->kind == JobKind::kBatch && j.allocation->nodes[0].node == node;
  return rebooted && !(j.flags & kJobConfiguring) && (batch_here || !j.request->no_kill);
}

// Jobs the controller believes to run on the node, and the node does not know.
void reconcile_missing(const View& v, NodeId node, const node_rpc::Register& r, Events& out) {
  for (JobId id : v.indexes.jobs_on(node)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    auto known = std::ranges::find_if(r.jobs, [&](const node_rpc::NodeJob& n) { return n.job == id && n.generation == j->restarts; });
    if (known != r.jobs.end() || j->finished()) continue;
    bool batch_here = j->request->kind == JobKind::kBatch && j->allocation->nodes[0].node == node;
    // A batch script that was reported as started and is unknown now went with a reboot or a killed slurmstepd.
    bool rebooted = lost_by_reboot(v, node, *j, r);
    if (!rebooted && (!batch_here || !j->launched)) continue;
    Ending e;
    e.state = JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    e.detail = rebooted ? "node " + v.cluster.nodes.at(node.value).spec->name + " was rebooted" : "the batch script is not on its node any more";
    if (requeue_allowed(v, *j)) e.flags = kJobRequeued;
    e.gone = nodes_of(*j, node);
    end_job(v, *j, e, out);
  }
}

// Jobs on the node that are over for the controller: end them there; finished ones are reported anew by the node itself.
void reconcile_unknown(const View& v, NodeId node, const node_rpc::Register& r, Decision<rpc::Empty>& d) {
  for (const node_rpc::NodeJob& n : r.jobs) {
    const Job* j = v.cluster.jobs.find(n.job.value);
    bool ours = j && j->restarts == n.generation && j->allocation &&
                std::ranges::any_of(j->allocation->nodes, [&](const NodeShare& s) { return s.node == node; });
    if (ours && !j->finished()) {
      if (n.batch && n.state == node_rpc::NodeJobState::kRunning && !j->launched)
        d.events.push_back(event::JobLaunched{j->id, v.now, j->ends});
      continue;
    }
    if (ours && j->releasing.any()) continue;   // an open obligation ends it
    node_rpc::TerminateJob t;
    t.job = n.job;
    t.generation = n.generation;
    t.forget = true;
    t.kill_wait_seconds = 0;
    t.time = v.now;
    d.orders.push_back({node, t});
  }
}

bool can_return(const View& v, const Node& n, const node_rpc::Register& r) {
  if (n.admin != NodeState::kDown) return true;
  uint32_t rts = v.settings.config().return_to_service;
  if (n.reason == "Not responding" || (n.flags & kNodeNoRespond)) return rts >= 1 || n.reason.empty();
  bool rebooted = n.hardware && n.hardware->boot_id != r.hardware.boot_id;
  return rts == 2 || (rts == 1 && rebooted && n.reason == "Node unexpectedly rebooted") || n.reason.empty();
}

// ---- scontrol update node
struct NodeUpdate {
  const View& v;
  const Node& n;
  event::NodeStateChanged state;
  event::NodeUpdated attributes;
  bool state_changed = false, attributes_changed = false, reason_given = false, kill_jobs = false;
};

Result<> set_state(NodeUpdate& u, const std::string& value) {
  using F = uint32_t;
  struct Row {
    const char* name;
    NodeState admin;       // kUnknown: leave
    F set, clear;
    bool needs_reason;
  };
  static constexpr F kHealth = kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid;
  static constexpr Row kRows[] = {
      {"drain", NodeState::kUnknown, kNodeDrain, 0, true},
      {"drained", NodeState::kUnknown, kNodeDrain, 0, true},
      {"fail", NodeState::kUnknown, kNodeFail, 0, true},
      {"failing", NodeState::kUnknown, kNodeFail, 0, true},
      {"down", NodeState::kDown, 0, 0, true},
      {"resume", NodeState::kIdle, 0, kHealth | kNodeRebootRequested, false},
      {"undrain", NodeState::kUnknown, 0, kNodeDrain | kNodeFail, false},
      {"idle", NodeState::kIdle, 0, kHealth, false},
      {"future", NodeState::kFuture, 0, kHealth, false},
      {"noresp", NodeState::kUnknown, kNodeNoRespond, 0, false},
  };
  for (const Row& row : kRows) {
    if (!iequals(value, row.name)) continue;
    if (row.needs_reason && !u.reason_given && u.n.reason.empty())
      return fail(Errc::kInvalidNodeState, "You must specify a reason when " + std::string(row.name == std::string_view("down") ? "DOWNING" : "DRAINING") +
                                               " a node. Request denied");
    if (row.admin != NodeState::kUnknown) u.state.admin = row.admin;
    if (row.admin == NodeState::kIdle && !u.n.hardware && !(u.n.flags & (kNodePoweredDown | kNodeCloud))) u.state.admin = NodeState::kUnknown;
    u.state.flags = (u.state.flags & ~row.clear) | row.set;
    if (row.admin == NodeState::kIdle || iequals(value, "undrain")) {
      if (!u.reason_given) u.state.reason.clear();
    }
    u.kill_jobs = row.admin == NodeState::kDown;
    u.state_changed = true;
    return {};
  }
  return fail(Errc::kInvalidNodeState, "Invalid node state specified: " + value, "states to set: drain, resume, down, idle, undrain, fail, future");
}

Result<> set_attribute(NodeUpdate& u, const rpc::KeyValue& kv) {
  if (iequals(kv.key, "Weight")) {
    auto w = parse_number<uint32_t>(kv.value);
    if (!w) return fail(Errc::kInvalidArgument, "Weight=" + kv.value + " is no number");
    u.attributes.weight = *w;
  } else if (iequals(kv.key, "Comment")) {
    u.attributes.comment = kv.value;
  } else if (iequals(kv.key, "Extra")) {
    u.attributes.extra = kv.value;
  } else if (iequals(kv.key, "ActiveFeatures") || iequals(kv.key, "Features") || iequals(kv.key, "AvailableFeatures")) {
    u.attributes.features_active.clear();
    for (auto f : split(kv.value, ',')) u.attributes.features_active.emplace_back(f);
  } else {
    return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key + "=" + kv.value,
                "of a node these can be changed: State, Reason, Weight, Comment, Extra, Features, ActiveFeatures, ResumeAfter");
  }
  u.attributes_changed = true;
  return {};
}

Result<> update_one(const View& v, const Node& n, const std::vector<rpc::KeyValue>& changes, Events& out) {
  NodeUpdate u{v, n, state_of(v, n), {n.id, n.weight, n.features_active, n.comment, n.extra}};
  for (const rpc::KeyValue& kv : changes) {
    if (!iequals(kv.key, "Reason")) continue;
    u.reason_given = !kv.value.empty();
    u.state.reason = kv.value;
    u.state.by = v.caller.uid;
    u.state.time = v.now;
    u.state_changed = true;
  }
  for (const rpc::KeyValue& kv : changes) {
    if (iequals(kv.key, "Reason")) continue;
    if (iequals(kv.key, "State")) {
      MUSTER_TRY_VOID(set_state(u, kv.value));
    } else if (iequals(kv.key, "ResumeAfter")) {
      auto s = parse_number<int64_t>(kv.value, 1, 100'000'000);
      if (!s) return fail(Errc::kInvalidArgument, "ResumeAfter=" + kv.value + " is no number of seconds");
      u.state.resume_after = v.now + seconds(*s);
      u.state_changed = true;
    } else {
      MUSTER_TRY_VOID(set_attribute(u, kv));
    }
  }
  if (u.kill_jobs) set_node_down(v, n, u.state.reason, out);
  if (u.state_changed) out.push_back(u.state);
  if (u.attributes_changed) out.push_back(u.attributes);
  return {};
}

}  // namespace

Decision<rpc::Empty> decide_register(const View& v, NodeId node, const node_rpc::Register& r) {
  Decision<rpc::Empty> d;
  const Node& n = v.cluster.nodes.at(node.value);
  bool new_hardware = !n.hardware || !(*n.hardware == r.hardware);
  if (new_hardware) d.events.push_back(event::NodeRegistered{node, std::make_shared<const NodeHardware>(r.hardware), v.now});

  event::NodeStateChanged e = state_of(v, n);
  e.flags &= ~(kNodeNoRespond | kNodePoweringUp | kNodePoweredDown | kNodePoweringDown | kNodeRebootIssued);
  e.resume_deadline = kTimeUnset;
  bool overrides = v.settings.config().slurmd_parameters.has("config_overrides");
  std::string lacking = overrides ? std::string() : shortfall(*n.spec, r.hardware);
  if (!lacking.empty()) {
    e.flags |= kNodeInvalid | kNodeDrain;
    e.reason = lacking;
    e.by = v.settings.slurm_user;
    e.time = v.now;
  } else if (e.flags & kNodeInvalid) {
    e.flags &= ~(kNodeInvalid | kNodeDrain);
    e.reason.clear();
  }
  if (n.admin == NodeState::kUnknown || (n.admin == NodeState::kDown && can_return(v, n, r))) {
    if (n.admin == NodeState::kDown && !(e.flags & (kNodeDrain | kNodeInvalid))) e.reason.clear();
    e.admin = NodeState::kIdle;
  }
  if (e.admin != n.admin || e.flags != n.flags || e.reason != n.reason || e.resume_deadline != n.resume_deadline)
    d.events.push_back(std::move(e));
  reconcile_missing(v, node, r, d.events);
  reconcile_unknown(v, node, r, d);
  return d;
}

void set_node_down(const View& v, const Node& n, const std::string& reason, Events& out) {
  for (JobId id : v.indexes.jobs_on(n.id)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    Bitmap here = nodes_of(*j, n.id);
    if (j->finished()) {
      if (!n.connected) out.push_back(event::JobNodesReleased{id, here, v.now});
      continue;
    }
    Ending e;
    e.state = JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    if (!n.connected) e.gone = here;
    if (requeue_allowed(v, *j)) e.flags = kJobRequeued;
    end_job(v, *j, e, out);
  }
  event::NodeStateChanged e = state_of(v, n);
  e.admin = NodeState::kDown;
  e.resume_deadline = kTimeUnset;
  if (e.reason.empty() || !reason.empty()) {
    e.reason = reason;
    e.by = v.caller.uid;
    e.time = v.now;
  }
  out.push_back(std::move(e));
}

void node_timer(const View& v, NodeId id, TimerKind kind, Events& out) {
  const Node* n = v.cluster.nodes.find(id.value);
  if (!n) return;
  if (kind == TimerKind::kNodeSilent) {
    auto patience = v.settings.config().slurmd_timeout;
    bool back = n->connected || !patience || n->last_response + *patience > v.now;
    bool idle_down = n->admin != NodeState::kIdle && v.indexes.jobs_on(id).empty();   // down already, and nothing to give up
    if (back || idle_down || (n->flags & (kNodePoweredDown | kNodePoweringUp))) return;
    Node silent = *n;
    silent.flags |= kNodeNoRespond;
    set_node_down(v, silent, "Not responding", out);
  } else if (kind == TimerKind::kNodeResume) {
    if (!(n->flags & kNodePoweringUp)) return;
    Node late = *n;
    late.flags = (late.flags & ~kNodePoweringUp) | kNodeNoRespond;
    set_node_down(v, late, "ResumeTimeout reached", out);
  } else if (kind == TimerKind::kNodeReturn) {
    event::NodeStateChanged e = state_of(v, *n);
    e.flags &= ~(kNodeDrain | kNodeFail);
    if (n->hardware) e.admin = NodeState::kIdle;
    e.reason.clear();
    e.resume_after = kTimeUnset;
    out.push_back(std::move(e));
  }
}

Result<Decision<rpc::Messages>> decide_update_node(const View& v, const rpc::UpdateNode& c) {
  if (!v.is_operator()) return fail(Errc::kAccessDenied);
  MUSTER_TRY(names, expand_hosts(iequals(c.nodes, "ALL") ? std::string() : c.nodes));
  Decision<rpc::Messages> d;
  std::vector<const Node*> nodes;
  if (iequals(c.nodes, "ALL")) v.cluster.nodes.for_each([&](uint32_t, const Node& n) { nodes.push_back(&n); });
  for (const std::string& name : names) {
    const Node* n = v.cluster.node(name);
    if (!n) return fail(Errc::kInvalidNodeName, "Invalid node name specified: " + name);
    nodes.push_back(n);
  }
  for (const Node* n : nodes) MUSTER_TRY_VOID(update_one(v, *n, c.changes, d.events));
  return d;
}

}  // namespace muster::slurmctld
