// Nodes: registration, silence, and what time brings about for them. What scontrol asks is in update_node.cc and node_power.cc.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/ends_in.h"

namespace muster::slurmctld {
namespace {

// The node's place in the job's allocation.
Bitmap nodes_of(const Job& job, NodeId node) {
  Bitmap here(job.allocation->nodes.size());
  for (size_t i = 0; i < job.allocation->nodes.size(); ++i)
    if (job.allocation->nodes[i].node == node) here.set(i);
  return here;
}

// What the node has less of than slurm.conf says, in the words of slurmctld's log; "" when it has enough. Of the configured memory,
// `mem_percent` percent are enough.
std::string shortfall(const NodeSpec& spec, const NodeHardware& hw, uint32_t mem_percent) {
  auto low = [](const char* what, uint64_t found, uint64_t configured, uint32_t percent = 100) {
    return std::string("Low ") + what + " (reported:" + std::to_string(found) + " < " + std::to_string(percent) +
           ".00% of configured:" + std::to_string(configured) + ")";
  };
  if (hw.cpus < spec.cpus) return low("CPUs", hw.cpus, spec.cpus);
  if (hw.sockets * hw.cores_per_socket * hw.threads_per_core < spec.sockets * spec.cores_per_socket * spec.threads_per_core)
    return low("socket*core*thread count", hw.sockets * hw.cores_per_socket * hw.threads_per_core,
               spec.sockets * spec.cores_per_socket * spec.threads_per_core);
  if (hw.real_memory_mb * 100 < spec.real_memory_mb * mem_percent)
    return low("RealMemory", hw.real_memory_mb, spec.real_memory_mb, mem_percent);
  if (hw.tmp_disk_mb < spec.tmp_disk_mb) return low("TmpDisk", hw.tmp_disk_mb, spec.tmp_disk_mb);
  for (bool by_type : {false, true})
    for (const GresDevices& g : spec.gres) {
      if (by_type && g.type.empty()) continue;
      auto count = [&](const std::vector<GresDevices>& all) {
        uint64_t n = 0;
        for (const GresDevices& x : all) n += x.name == g.name && (!by_type || x.type == g.type) ? x.count : 0;
        return n;
      };
      const uint64_t configured = count(spec.gres), found = count(hw.gres);
      if (found < configured)
        return "gres/" + g.name + (by_type ? ":" + g.type : "") + " count reported lower than configured (" + std::to_string(found) +
               " < " + std::to_string(configured) + ")";
    }
  return {};
}

// SlurmctldParameters=node_reg_mem_percent=
uint32_t mem_percent(const View& v, const Node& n) {
  return static_cast<uint32_t>(v.settings.config().slurmctld_parameters.number("node_reg_mem_percent", n.flags & kNodeCloud ? 90 : 100));
}

bool rebooted(const View& v, NodeId node, const node_rpc::Register& r) {
  const Node& n = v.cluster.nodes.at(node.value);
  return n.hardware && n.hardware->boot_id != r.hardware.boot_id;
}

// Whether `out` ends the job. A job on a single node is looked at only once, but the end of another component may be its end.
bool ends_by(const Job& job, const Events& out) { return (job.het || job.allocation->nodes.size() > 1) && ends_in(out, job.id); }

// Ends jobs that the controller believes to run on the node and that the node does not know.
void reconcile_missing(const View& v, NodeId node, const node_rpc::Register& r, Events& out) {
  for (JobId id : v.indexes.jobs_on(node)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    auto known = std::ranges::find_if(r.jobs, [&](const node_rpc::NodeJob& n) { return n.job == id && n.generation == j->restarts; });
    if (known != r.jobs.end() || j->finished() || j->is_leaving(node) || ends_by(*j, out)) continue;
    bool batch_here = j->runs_script_on(node);
    if (rebooted(v, node, r) && !(j->flags & kJobConfiguring) && outlives(*j, node, out)) {
      lose_node(v, *j, node, false, out);
      continue;
    }
    // A batch script that was reported as started and is unknown now was lost in a reboot or with a killed slurmstepd. After a reboot
    // whatever ran there is gone, also a script whose start was never reported. A job that still waits for its nodes to boot has run
    // nowhere. What has started there since the node said this is not known here: the node is told to end the job, and says when nothing of
    // it is left.
    const bool by_reboot = rebooted(v, node, r) && !(j->flags & kJobConfiguring);
    if (!by_reboot && (!batch_here || !j->launched)) continue;
    Ending e;
    e.state = JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    e.detail =
        by_reboot ? "node " + v.cluster.nodes.at(node.value).spec->name + " was rebooted" : "the batch script is not on its node any more";
    if (requeue_allowed(v, *j)) e.flags = kJobRequeued;
    end_job(v, *j, e, out);
  }
}

// Ends jobs on the node that are over for the controller; those that have finished there the node itself reports anew.
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
    if (j && j->restarts == n.generation && ((ours && j->run->releasing.any()) || j->is_leaving(node)))
      continue;  // an open obligation ends it
    node_rpc::TerminateJob t;
    t.job = n.job;
    t.generation = n.generation;
    t.forget = true;
    t.kill_wait_seconds = 0;
    t.time = v.now;
    d.orders.push_back({node, t});
  }
}

// Sends changed limits of steps again: the order may have been lost with a connection, or with the controller that was to send it.
void resend_limits(const View& v, NodeId node, std::vector<Order>& out) {
  for (JobId id : v.indexes.jobs_on(node)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    for (const Step& s : j->steps) {
      const bool changed = s.time_limit_min != s.request->time_limit_min.value_or(kUnlimited32);
      const bool here =
          std::ranges::any_of(s.shares, [&](const StepShare& x) { return !x.done && j->allocation->nodes[x.node_index].node == node; });
      if (changed && here) out.push_back({node, limit_order(*j, s, s.time_limit_min)});
    }
  }
}

bool can_return(const View& v, const Node& n, const node_rpc::Register& r) {
  if (n.admin != NodeState::kDown) return true;
  uint32_t rts = v.settings.config().return_to_service;
  if (n.reason == "Not responding" || (n.flags & kNodeNoRespond)) return rts >= 1 || n.reason.empty();
  return rts == 2 || (rts == 1 && rebooted(v, n.id, r) && n.reason == "Node unexpectedly rebooted") || n.reason.empty();
}

// slurmd --extra is what the node says when its slurmd starts. A slurmd that merely connects again does not take back what scontrol update
// has set since.
bool sets_extra(const Node& n, const node_rpc::Register& r) {
  const bool begins = !n.hardware || n.hardware->slurmd_start != r.hardware.slurmd_start;
  return begins && !r.extra.empty() && r.extra.size() <= kMostText && r.extra != n.extra.text();
}

}  // namespace

Decision<rpc::Empty> decide_register(const View& v, NodeId node, const node_rpc::Register& r) {
  Decision<rpc::Empty> d;
  const Node& n = v.cluster.nodes.at(node.value);
  bool new_hardware = !n.hardware || !(*n.hardware == r.hardware);
  if (new_hardware) d.events.push_back(event::NodeRegistered{node, std::make_shared<const NodeHardware>(r.hardware), v.now});

  if (sets_extra(n, r))
    d.events.push_back(
        event::NodeUpdated{n.id, n.weight, n.features_active, n.comment, r.extra, n.instance_id, n.instance_type, n.topology});

  event::NodeStateChanged e = state_of(n, v.now);
  e.flags &= ~kNodeNoRespond;
  // A node that registers a last time while it is being powered down still goes down; one that has yet to reboot still reboots.
  if (!(n.flags & (kNodePoweringDown | kNodeRebootIssued))) {
    e.flags &= ~(kNodePoweringUp | kNodePoweredDown);
    e.resume_deadline = kTimeUnset;
  }
  if (n.flags & kNodeRebootIssued) after_reboot(n, r.hardware, e, d.orders);
  bool overrides = v.settings.config().slurmd_parameters.has("config_overrides");
  std::string lacking = overrides ? std::string() : shortfall(*n.spec, r.hardware, mem_percent(v, n));
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
  else settle_node(v, n, d.events, d.orders);  // it is back, and idle: what waited for that begins
  reconcile_missing(v, node, r, d.events);
  reconcile_unknown(v, node, r, d);
  resend_limits(v, node, d.orders);
  end_management(v, node, r, d.orders);
  return d;
}

namespace {}  // namespace

void set_node_down(const View& v, const Node& n, const std::string& reason, Events& out) {
  for (JobId id : v.indexes.jobs_on(n.id)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || !j->allocation) continue;
    if (j->is_leaving(n.id)) {
      if (!n.connected) out.push_back(event::JobNodeLeft{id, n.id, v.now});
      continue;
    }
    Bitmap here = nodes_of(*j, n.id);
    if (j->finished() || ends_by(*j, out)) {  // several of its nodes may go down at once
      if (!n.connected) out.push_back(event::JobNodesReleased{id, here, v.now});
      continue;
    }
    if (outlives(*j, n.id, out)) {  // its user deals with the loss
      lose_node(v, *j, n.id, !n.connected, out);
      continue;
    }
    Ending e;
    e.state = j->flags & kJobPowerUpNode ? JobState::kBootFail : JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    e.node = n.id;
    if (!n.connected) e.gone = here;
    if (requeue_allowed(v, *j)) e.flags = kJobRequeued;
    end_job(v, *j, e, out);
  }
  event::NodeStateChanged e = state_of(n, v.now);
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
    bool idle_down = n->admin != NodeState::kIdle && v.indexes.jobs_on(id).empty();  // down already, and nothing to give up
    if (back || idle_down || (n->flags & (kNodePoweredDown | kNodePoweringUp | kNodePoweringDown | kNodeRebootIssued))) return;
    Node silent = *n;
    silent.flags |= kNodeNoRespond;
    set_node_down(v, silent, "Not responding", out);
  } else if (kind == TimerKind::kNodeResume) {
    power_deadline(v, *n, out);
  } else if (kind == TimerKind::kNodeReturn) {
    event::NodeStateChanged e = state_of(*n, v.now);
    e.flags &= ~(kNodeDrain | kNodeFail | kNodeRebootRequested);
    if (n->hardware) e.admin = NodeState::kIdle;
    e.reason.clear();
    e.resume_after = kTimeUnset;
    out.push_back(std::move(e));
  }
}

}  // namespace muster::slurmctld
