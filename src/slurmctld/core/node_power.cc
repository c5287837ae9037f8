// scontrol reboot, cancel_reboot and power: what is asked of a node now, what waits until it is idle, and how it ends.
// scontrol(1): "reboot", "cancel_reboot", "power".
#include <algorithm>

#include "base/text.h"
#include "config/power_action.h"
#include "sched/rules/choices.h"
#include "sched/supply/availability.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/feature_boots.h"
#include "slurmctld/core/node_place.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kPowerFlags = kNodePoweredDown | kNodePoweringUp | kNodePoweringDown | kNodePowerDownRequested;
constexpr uint32_t kRebootFlags = kNodeRebootRequested | kNodeRebootIssued;

bool idle(const Node& n) { return !n.has_jobs(); }

Time deadline(const View& v, const Node& n, std::optional<uint32_t> Partition::*of_partition, std::optional<Duration> of_cluster) {
  std::optional<uint32_t> longest;
  v.cluster.partitions.for_each([&](uint32_t, const Partition& p) {
    if (p.*of_partition && p.nodes.test(n.id.value)) longest = std::max(longest.value_or(0), *(p.*of_partition));
  });
  if (longest == kUnlimited32) return kTimeInfinite;
  if (longest) return v.now + seconds(*longest);
  return of_cluster ? v.now + *of_cluster : kTimeInfinite;
}

// FORCE: the node's jobs are ended, and queued again where that is allowed.
void clear_of_jobs(const View& v, const Node& n, JobState state, Events& out) {
  for (JobId id : v.indexes.jobs_on(n.id)) {
    const Job* j = v.cluster.jobs.find(id.value);
    if (!j || j->finished()) continue;
    Ending e;
    e.state = state;
    if (requeue_allowed(v, *j)) e.flags = kJobRequeued;
    end_job(v, *j, e, out);
  }
}

void say(event::NodeStateChanged& e, const View& v, const std::string& reason) {
  e.reason = reason;
  e.by = v.caller.uid;
  e.time = v.now;
}

void issue_reboot(const View& v, const Node& n, event::NodeStateChanged& e, std::vector<Order>& orders) {
  e.flags = (e.flags & ~kNodeRebootRequested) | kNodeRebootIssued;
  e.boot_features.clear();
  e.reboot_issued = v.now;
  e.resume_deadline = resume_deadline(v, n);
  e.reason += " : reboot issued";
  if (config::reboots_from_controller(v.settings.config(), e.power_action)) e.run = event::PowerProgram::kReboot;
  else orders.push_back({n.id, node_rpc::RebootNode{e.reason, e.power_action, {}, e.reboot_issued}});
}

// SlurmctldParameters=idle_on_node_suspend: what was wrong with it goes with the machine.
void forget_faults(const View& v, event::NodeStateChanged& e) {
  if (!v.settings.config().slurmctld_parameters.has("idle_on_node_suspend")) return;
  e.admin = NodeState::kIdle;
  e.flags &= ~(kNodeDrain | kNodeFail);
  e.reason.clear();
}

// Of a node that goes nobody expects an answer.
void begin_power_down(const View& v, const Node& n, event::NodeStateChanged& e) {
  e.flags = (e.flags & ~(kPowerFlags | kRebootFlags | kNodeNoRespond)) | kNodePoweringDown;
  e.resume_deadline = suspend_deadline(v, n);
  e.run = event::PowerProgram::kSuspend;
  forget_faults(v, e);
}

// Begins what waits for the node to be idle; false: nothing does.
bool begin_waiting(const View& v, const Node& n, event::NodeStateChanged& e, std::vector<Order>& orders) {
  if (e.flags & kNodePowerDownRequested) return begin_power_down(v, n, e), true;
  if (!(e.flags & kNodeRebootRequested)) return false;
  if (!n.connected && !config::reboots_from_controller(v.settings.config(), e.power_action)) return false;
  return issue_reboot(v, n, e, orders), true;
}

Result<> reboot(const View& view, const Node& node, const rpc::ControlNodes& request, WakeRoom& room, Events& out,
                std::vector<Order>& orders) {
  if (request.power_action.empty() && view.settings.config().reboot_program.empty())
    return fail(Errc::kDisabled, {}, "slurm.conf names no RebootProgram");
  bool off = node.flags & (kNodePoweredDown | kNodePoweringDown | kNodePowerDownRequested);
  if (node.admin == NodeState::kFuture || (!request.force && (off || (node.flags & kRebootFlags)))) return {};  // ignored, as documented
  if (request.force) MUSTER_TRY_VOID(room.take(node));
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags |= kNodeRebootRequested;
  change.power_action = request.power_action;
  change.next_state = iequals(request.next_state, "DOWN")           ? NodeState::kDown
                      : !request.next_state.empty() || request.asap ? NodeState::kIdle
                                                                    : NodeState::kUnknown;
  if (request.asap && !(change.flags & kNodeDrain)) {
    change.flags |= kNodeDrain;
    change.action_drained = true;
  }
  if (!request.reason.empty()) say(change, view, request.reason);
  else if (change.reason.empty()) say(change, view, request.asap ? "Reboot ASAP" : "reboot requested");
  if (request.force) {
    change.flags &= ~kPowerFlags;
    clear_of_jobs(view, node, JobState::kNodeFail, out);
    issue_reboot(view, node, change, orders);
  } else if (idle(node)) {
    begin_waiting(view, node, change, orders);
  }
  out.push_back(std::move(change));
  return {};
}

Result<> cancel_reboot(const View& view, const Node& node, Events& out) {
  if (!(node.flags & kNodeRebootRequested)) return fail(Errc::kInvalidNodeState);
  event::NodeStateChanged change = state_of(node, view.now);
  change.flags &= ~kNodeRebootRequested;
  change.power_action.clear();
  change.next_state = NodeState::kUnknown;
  if (change.action_drained) {
    change.flags &= ~kNodeDrain;
    change.reason.clear();
  } else if (change.reason == "reboot requested") {
    change.reason.clear();
  }
  change.action_drained = false;
  out.push_back(std::move(change));
  return {};
}

// A node that is up, or coming up, goes on as it is.
Result<> power_up(const View& view, const Node& node, const rpc::ControlNodes& request, WakeRoom& room, Events& out) {
  if (!(node.flags & (kNodePoweredDown | kNodePoweringDown | kNodePowerDownRequested))) return {};
  MUSTER_TRY_VOID(room.take(node));
  event::NodeStateChanged e = state_of(node, view.now);
  if (node.flags & (kNodePoweredDown | kNodePoweringDown)) {
    e.flags |= kNodePoweringUp;
    e.power_action = request.power_action;
    e.resume_deadline = resume_deadline(view, node);
    e.run = event::PowerProgram::kResume;
  }
  e.flags &= ~(kNodePoweredDown | kNodePoweringDown | kNodePowerDownRequested);
  out.push_back(std::move(e));
  if (node.flags & kNodePoweringDown) forget_features(view, node, out);  // nobody has asked for them this time
  return {};
}

// Of a node that is powered down SuspendProgram is told again: a machine may have been left. One that is going down goes on.
Result<> power_down(const View& view, const Node& node, const rpc::ControlNodes& request, Events& out) {
  const config::Config& config = view.settings.config();
  if ((request.power_action.empty() && config.suspend_program.empty()) || config.resume_program.empty())
    return fail(Errc::kInvalidNodeState, {}, "power saving needs SuspendProgram and ResumeProgram in slurm.conf");
  if (node.admin == NodeState::kFuture) return fail(Errc::kInvalidNodeState, {}, "node " + node.spec->name + " is not there yet");
  event::NodeStateChanged change = state_of(node, view.now);
  if (node.flags & kNodePoweringDown) {
    if (!request.reason.empty()) {
      say(change, view, request.reason);
      out.push_back(std::move(change));
    }
    return {};
  }
  change.flags &= ~kNodeRebootRequested;  // the node boots when it is wanted again; an action is of one of the two
  change.next_state = NodeState::kUnknown;
  change.flags |= kNodePowerDownRequested;
  change.power_action = request.power_action;
  if (request.asap && !(change.flags & kNodeDrain)) {
    change.flags |= kNodeDrain;
    change.action_drained = true;
  }
  if (!request.reason.empty()) say(change, view, request.reason);
  else if (request.asap && change.reason.empty()) say(change, view, "Power down ASAP");
  if (request.force) {
    clear_of_jobs(view, node, JobState::kCancelled, out);
    change.flags &= ~(kNodeDrain | kNodeFail);
    change.admin = node.hardware ? NodeState::kIdle : change.admin;
    begin_power_down(view, node, change);
  } else if (idle(node)) {
    begin_power_down(view, node, change);
  }
  out.push_back(std::move(change));
  return {};
}

// The PowerAction that is asked for has to be there, and has to be able to do it.
Result<> check_action(const config::Config& config, const rpc::ControlNodes& request) {
  const std::string& name = request.power_action;
  if (name.empty()) return {};
  if (request.action == rpc::NodeAction::kCancelReboot) return fail(Errc::kInvalidArgument, {}, "cancel_reboot takes no action");
  const config::PowerActionConfig* action = config::find_power_action(config, name);
  if (!action)
    return fail(Errc::kInvalidArgument, {},
                "slurm.conf has no PowerAction \"" + name + "\"" + sched::choice_of(config::power_action_names(config), name));
  if (request.action == rpc::NodeAction::kPowerUp && action->on_slurmd)
    return fail(Errc::kInvalidArgument, {},
                "PowerAction " + action->name + " has Location=slurmd, and no slurmd runs on a node that is powered down");
  return {};
}

}  // namespace

Result<> WakeRoom::take(const Node& node) {
  const std::optional<uint32_t>& most = view_.settings.sched.max_powered_nodes;
  if (!most || !(node.flags & kNodePoweredDown) || sched::counts_as_powered(node)) return {};
  if (!left_) {
    uint32_t powered = 0;
    view_.cluster.nodes.for_each([&](uint32_t, const Node& n) { powered += sched::counts_as_powered(n); });
    left_ = *most - std::min(*most, powered);
  }
  if (*left_ == 0) return fail(Errc::kInvalidNodeState, "max_powered_nodes=" + std::to_string(*most) + ": no more nodes may be powered up");
  --*left_;
  return {};
}

Time resume_deadline(const View& v, const Node& n) {
  return deadline(v, n, &Partition::resume_timeout_seconds, v.settings.config().resume_timeout);
}

void power_down_idle(const View& view, const Node& node, Events& out) {
  event::NodeStateChanged e = state_of(node, view.now);
  e.power_action.clear();
  begin_power_down(view, node, e);
  out.push_back(std::move(e));
}

Time suspend_deadline(const View& v, const Node& n) {
  return deadline(v, n, &Partition::suspend_timeout_seconds, v.settings.config().suspend_timeout);
}

Result<> control_node(const View& v, const Node& n, const rpc::ControlNodes& c, WakeRoom& room, Events& out, std::vector<Order>& orders) {
  switch (c.action) {
    case rpc::NodeAction::kReboot: return reboot(v, n, c, room, out, orders);
    case rpc::NodeAction::kCancelReboot: return cancel_reboot(v, n, out);
    case rpc::NodeAction::kPowerUp: return power_up(v, n, c, room, out);
    case rpc::NodeAction::kPowerDown: return power_down(v, n, c, out);
  }
  return fail(Errc::kInvalidArgument);
}

Result<Decision<rpc::Messages>> decide(const View& view, const rpc::ControlNodes& request) {
  MUSTER_TRY(nodes, select_nodes(view, request.nodes));
  if (!request.next_state.empty() && !iequals(request.next_state, "DOWN") && !iequals(request.next_state, "RESUME"))
    return fail(Errc::kInvalidArgument, "Invalid state: " + request.next_state, "Valid states: DOWN, RESUME");
  MUSTER_TRY_VOID(check_action(view.settings.config(), request));
  Decision<rpc::Messages> done;
  std::optional<Error> first;
  size_t carried_out = 0;
  WakeRoom room(view);
  for (const Node* n : nodes) {
    Result<> ok = control_node(view, *n, request, room, done.events, done.orders);
    if (ok) ++carried_out;
    else if (!first) first = ok.error();
    if (!ok) done.reply.errors.push_back({n->spec->name, errc_number(ok.error().code), std::string(ok.error().message())});
  }
  if (first && !carried_out) return std::unexpected(*first);
  return done;
}

void settle_node(const View& v, const Node& n, Events& out, std::vector<Order>& orders) {
  if (!(n.flags & (kNodePowerDownRequested | kNodeRebootRequested)) || !idle(n)) return;
  event::NodeStateChanged e = state_of(n, v.now);
  if (begin_waiting(v, n, e, orders)) out.push_back(std::move(e));
}

void after_reboot(const View& view, const Node& node, const NodeHardware& found, event::NodeStateChanged& change,
                  std::vector<Order>& orders) {
  bool rebooted = found.boot_time > node.reboot_issued || (node.hardware && node.hardware->boot_id != found.boot_id);
  if (!rebooted) {
    if (!config::reboots_from_controller(view.settings.config(), node.power_action))
      orders.push_back({node.id, node_rpc::RebootNode{node.reason, node.power_action, node.boot_features,
                                                      node.reboot_issued}});  // the first order may be lost
    return;
  }
  change.flags &= ~kNodeRebootIssued;
  change.resume_deadline = kTimeUnset;
  change.reboot_issued = kTimeUnset;
  change.power_action.clear();
  change.boot_features.clear();
  change.next_state = NodeState::kUnknown;
  change.action_drained = false;
  std::string waited = change.reason.substr(0, change.reason.rfind(" : reboot issued"));
  if (node.next_state == NodeState::kDown) {
    change.admin = NodeState::kDown;
    change.reason = waited + " : reboot complete";
  } else if (node.next_state == NodeState::kIdle) {
    change.admin = NodeState::kIdle;
    change.flags &= ~(kNodeDrain | kNodeFail);
    change.reason.clear();
  } else if (!(change.flags & (kNodeDrain | kNodeFail)) && change.admin != NodeState::kDown) {
    change.reason.clear();
  } else {
    change.reason = waited;
  }
  change.by = node.reason_uid;
}

void power_deadline(const View& view, const Node& node, Events& out) {
  if (node.flags & kNodePoweringDown) {
    event::NodeStateChanged change = state_of(node, view.now);
    change.flags = (change.flags & ~kNodePoweringDown) | kNodePoweredDown | kNodePowerSave;
    change.resume_deadline = kTimeUnset;
    change.power_action.clear();
    if (change.action_drained) change.flags &= ~kNodeDrain;
    if (!(change.flags & (kNodeDrain | kNodeFail)) && change.admin != NodeState::kDown) change.reason.clear();
    change.action_drained = false;
    out.push_back(std::move(change));
    forget_features(view, node, out);
    if (!node.connected) end_jobs_of(view, node, out);  // nobody is left who could say that they are over
    if (auto left = without_machine(view, node))
      out.push_back(event::NodeDefined{node.id, std::make_shared<const NodeSpec>(std::move(*left)), view.now});
    return;
  }
  if (!(node.flags & (kNodePoweringUp | kNodeRebootIssued))) return;
  Node late = node;
  bool booting = node.flags & kNodeRebootIssued;
  late.flags = (late.flags & ~(kNodePoweringUp | kNodeRebootIssued)) | kNodeNoRespond;
  set_node_down(view, late,
                booting ? node.reason.substr(0, node.reason.rfind(" : reboot issued")) + " : reboot timed out" : "ResumeTimeout reached",
                out);
  if (!booting) std::get<event::NodeStateChanged>(out.back()).run = event::PowerProgram::kResumeFailed;
}

}  // namespace muster::slurmctld
