// Nodes: registration, silence, and what time brings about for them. What scontrol asks is in update_node.cc and node_power.cc.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/ends_in.h"
#include "slurmctld/core/feature_boots.h"
#include "slurmctld/core/node_place.h"

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
void reconcile_missing(const View& view, NodeId node, const node_rpc::Register& report, Events& out) {
  for (JobId id : view.indexes.jobs_on(node)) {
    const Job* job = view.cluster.jobs.find(id.value);
    if (!job || !job->allocation) continue;
    auto known =
        std::ranges::find_if(report.jobs, [&](const node_rpc::NodeJob& n) { return n.job == id && n.generation == job->restarts; });
    if (known != report.jobs.end() || job->finished() || job->is_leaving(node) || ends_by(*job, out)) continue;
    bool batch_here = job->runs_script_on(node);
    if (rebooted(view, node, report) && !(job->flags & kJobConfiguring) && outlives(*job, node, out)) {
      lose_node(view, *job, node, false, out);
      continue;
    }
    // A batch script that was reported as started and is unknown now was lost in a reboot or with a killed slurmstepd. After a reboot
    // whatever ran there is gone, also a script whose start was never reported. A job that still waits for its nodes to boot has run
    // nowhere. What has started there since the node said this is not known here: the node is told to end the job, and says when nothing of
    // it is left.
    const bool by_reboot = rebooted(view, node, report) && !(job->flags & kJobConfiguring);
    if (!by_reboot && (!batch_here || !job->launched)) continue;
    Ending e;
    e.state = JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    e.detail = by_reboot ? "node " + view.cluster.nodes.at(node.value).spec->name + " was rebooted"
                         : "the batch script is not on its node any more";
    if (requeue_allowed(view, *job)) e.flags = kJobRequeued;
    end_job(view, *job, e, out);
  }
}

// Ends jobs on the node that are over for the controller; those that have finished there the node itself reports anew.
void reconcile_unknown(const View& view, NodeId node, const node_rpc::Register& report, Decision<rpc::Empty>& out) {
  for (const node_rpc::NodeJob& there : report.jobs) {
    const Job* job = view.cluster.jobs.find(there.job.value);
    bool ours = job && job->restarts == there.generation && job->allocation &&
                std::ranges::any_of(job->allocation->nodes, [&](const NodeShare& s) { return s.node == node; });
    if (ours && !job->finished()) {
      if (there.batch && there.state == node_rpc::NodeJobState::kRunning && !job->launched)
        out.events.push_back(event::JobLaunched{job->id, view.now, job->ends});
      continue;
    }
    if (job && job->restarts == there.generation && ((ours && job->run->releasing.any()) || job->is_leaving(node)))
      continue;  // an open obligation ends it
    node_rpc::TerminateJob t;
    t.job = there.job;
    t.generation = there.generation;
    t.forget = true;
    t.kill_wait_seconds = 0;
    t.time = view.now;
    out.orders.push_back({node, t});
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

// Its helpers failed before it could go.
void give_up_reboot(event::NodeStateChanged& change) {
  change.flags &= ~kNodeRebootIssued;
  change.resume_deadline = change.reboot_issued = kTimeUnset;
  change.boot_features.clear();
  change.action_drained = false;
  change.next_state = NodeState::kUnknown;
  change.reason.resize(std::min(change.reason.size(), change.reason.rfind(" : reboot issued")));
  if (change.reason.starts_with("rebooted for job ")) change.reason.clear();
}

// A node that did not get what it booted for, or whose helpers fail, takes no more jobs, and those that wait for it go back into the queue.
void note_attributes(const View& view, const Node& known, const node_rpc::Register& report, event::NodeStateChanged& change, Events& out) {
  const bool booted = (known.flags & kNodeRebootIssued) && !(change.flags & kNodeRebootIssued);
  FeaturesFound features = features_found(view, known, report, booted);
  event::NodeUpdated attributes = attributes_of(known);
  const bool extra = sets_extra(known, report);
  if (extra) attributes.extra = report.extra;
  const bool other = attributes.features_active != features.active;
  attributes.features_active = std::move(features.active);
  if (extra || other) out.push_back(std::move(attributes));
  if (features.fault.empty()) return;
  if (!(change.flags & kNodeDrain) || change.reason.empty()) {
    change.flags |= kNodeDrain;
    change.reason = std::move(features.fault);
    change.by = view.settings.slurm_user;
    change.time = view.now;
  }
  if (booted || (known.flags & kNodePoweringUp)) end_jobs_of(view, known, out);
}

}  // namespace

Decision<rpc::Empty> decide_register(const View& view, NodeId node, const node_rpc::Register& report) {
  Decision<rpc::Empty> out;
  const Node& known = view.cluster.nodes.at(node.value);
  NodeHardware found = known_features(view, report.hardware);
  bool new_hardware = !known.hardware || !(*known.hardware == found);
  if (new_hardware) out.events.push_back(event::NodeRegistered{node, std::make_shared<const NodeHardware>(std::move(found)), view.now});

  if (auto moved = moved_by(view, known, report))
    out.events.push_back(event::NodeDefined{known.id, std::make_shared<const NodeSpec>(std::move(*moved)), view.now});

  event::NodeStateChanged change = state_of(known, view.now);
  change.flags &= ~kNodeNoRespond;
  // A node that registers a last time while it is being powered down still goes down; one that has yet to reboot still reboots.
  if (!(known.flags & (kNodePoweringDown | kNodeRebootIssued))) {
    change.flags &= ~(kNodePoweringUp | kNodePoweredDown);
    change.resume_deadline = kTimeUnset;
    if (!(change.flags & (kNodeRebootRequested | kNodePowerDownRequested))) change.power_action.clear();
  }
  if (known.flags & kNodeRebootIssued) {
    if (!report.fault.empty()) give_up_reboot(change);
    else after_reboot(view, known, report.hardware, change, out.orders);
  }
  note_attributes(view, known, report, change, out.events);
  bool overrides = view.settings.config().slurmd_parameters.has("config_overrides");
  std::string lacking = overrides ? std::string() : shortfall(*known.spec, report.hardware, mem_percent(view, known));
  if (!lacking.empty()) {
    change.flags |= kNodeInvalid | kNodeDrain;
    change.reason = lacking;
    change.by = view.settings.slurm_user;
    change.time = view.now;
  } else if (change.flags & kNodeInvalid) {
    change.flags &= ~(kNodeInvalid | kNodeDrain);
    change.reason.clear();
  }
  if (known.admin == NodeState::kUnknown || (known.admin == NodeState::kDown && can_return(view, known, report))) {
    if (known.admin == NodeState::kDown && !(change.flags & (kNodeDrain | kNodeInvalid))) change.reason.clear();
    change.admin = NodeState::kIdle;
  }
  if (change.admin != known.admin || change.flags != known.flags || change.reason != known.reason ||
      change.resume_deadline != known.resume_deadline)
    out.events.push_back(std::move(change));
  else settle_node(view, known, out.events, out.orders);  // it is back, and idle: what waited for that begins
  reconcile_missing(view, node, report, out.events);
  reconcile_unknown(view, node, report, out);
  resend_limits(view, node, out.orders);
  tell_memory_again(view, node, out.orders);
  end_management(view, node, report, out.orders);
  return out;
}

void end_jobs_of(const View& view, const Node& node, Events& out) {
  for (JobId id : view.indexes.jobs_on(node.id)) {
    const Job* job = view.cluster.jobs.find(id.value);
    if (!job || !job->allocation) continue;
    if (job->is_leaving(node.id)) {
      if (!node.connected) out.push_back(event::JobNodeLeft{id, node.id, view.now});
      continue;
    }
    Bitmap here = nodes_of(*job, node.id);
    if (job->finished() || ends_by(*job, out)) {  // several of its nodes may go down at once
      if (!node.connected) out.push_back(event::JobNodesReleased{id, here, view.now});
      continue;
    }
    if (outlives(*job, node.id, out)) {  // its user deals with the loss
      lose_node(view, *job, node.id, !node.connected, out);
      continue;
    }
    Ending e;
    e.state = job->flags & kJobPowerUpNode ? JobState::kBootFail : JobState::kNodeFail;
    e.reason = Reason::kNodeDown;
    e.node = node.id;
    if (!node.connected) e.gone = here;
    if (requeue_allowed(view, *job)) e.flags = kJobRequeued;
    end_job(view, *job, e, out);
  }
}

void set_node_down(const View& view, const Node& node, const std::string& reason, Events& out) {
  end_jobs_of(view, node, out);
  event::NodeStateChanged e = state_of(node, view.now);
  e.admin = NodeState::kDown;
  e.resume_deadline = kTimeUnset;
  if (e.reason.empty() || !reason.empty()) {
    e.reason = reason;
    e.by = view.caller.uid;
    e.time = view.now;
  }
  out.push_back(std::move(e));
}

void node_timer(const View& view, NodeId id, TimerKind kind, Events& out) {
  const Node* node = view.cluster.nodes.find(id.value);
  if (!node) return;
  if (kind == TimerKind::kNodeSilent) {
    auto patience = view.settings.config().slurmd_timeout;
    bool back = node->connected || !patience || node->last_response + *patience > view.now;
    bool idle_down = node->admin != NodeState::kIdle && view.indexes.jobs_on(id).empty();  // down already, and nothing to give up
    if (!back && (node->flags & kNodePoweredDown)) end_jobs_of(view, *node, out);          // its slurmd outlived the order to power down
    if (back || idle_down || (node->flags & (kNodePoweredDown | kNodePoweringUp | kNodePoweringDown | kNodeRebootIssued))) return;
    Node silent = *node;
    silent.flags |= kNodeNoRespond;
    set_node_down(view, silent, "Not responding", out);
  } else if (kind == TimerKind::kNodeResume) {
    power_deadline(view, *node, out);
  } else if (kind == TimerKind::kNodeReturn) {
    event::NodeStateChanged e = state_of(*node, view.now);
    e.flags &= ~(kNodeDrain | kNodeFail | kNodeRebootRequested);
    if (node->hardware) e.admin = NodeState::kIdle;
    e.reason.clear();
    e.resume_after = kTimeUnset;
    out.push_back(std::move(e));
  }
}

}  // namespace muster::slurmctld
