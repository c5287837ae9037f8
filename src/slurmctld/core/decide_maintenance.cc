// What operators ask of maintenances, and how the moves of one (maintenance.h) become true.
#include <algorithm>
#include <set>

#include "base/plain_text.h"
#include "config/power_action.h"
#include "sched/rules/choices.h"
#include "slurmctld/core/maintenance.h"

namespace muster::slurmctld {
namespace {

std::unexpected<Error> wrong(std::string what) { return fail(Errc::kInvalidArgument, {}, std::move(what)); }

Result<> check_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name.size() > Maintenance::kLongestName || !std::ranges::all_of(name, fits))
    return wrong("a maintenance has a name of letters, digits, '-', '_' and '.', at most " + std::to_string(Maintenance::kLongestName) +
                 " of them");
  return {};
}

// Root runs the program, so slurm.conf has to name it.
Result<> check_program(const config::Config& config, const std::string& action) {
  if (!action.empty() && !config::find_power_action(config, action))
    return wrong("slurm.conf has no PowerAction \"" + action + "\"" + sched::choice_of(config::power_action_names(config), action));
  if (action.empty() && config.reboot_program.empty()) return fail(Errc::kDisabled, {}, "slurm.conf names no RebootProgram");
  return {};
}

Result<> check_numbers(const rpc::StartMaintenance& request) {
  for (const auto& [name, value] : {std::pair{"--at-once", request.at_once}, std::pair{"--stop-after", request.stop_after}})
    if (value < 1 || value > Maintenance::kMostNodes)
      return wrong(std::string(name) + "=" + std::to_string(value) + ": from 1 to " + std::to_string(Maintenance::kMostNodes));
  if (request.reason.size() > Maintenance::kLongestReason || plain(request.reason) != request.reason)
    return wrong("--reason: at most " + std::to_string(Maintenance::kLongestReason) + " bytes in one line");
  return {};
}

const Maintenance* find_maintenance(const Cluster& cluster, const std::string& name) {
  const Maintenance* found = nullptr;
  cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (m.name == name) found = &m;
  });
  return found;
}

// The one that the new one takes the place of: of the same name, or the oldest that is over where there are as many as may be.
Result<uint32_t> one_to_forget(const Cluster& cluster, const std::string& name) {
  if (const Maintenance* same = find_maintenance(cluster, name)) {
    if (same->over()) return same->id;
    return wrong("maintenance '" + name + "' is " + std::string(maintenance_state_name(same->state)) + " and not over yet");
  }
  if (cluster.maintenances.size() < Maintenance::kMost) return 0;
  uint32_t oldest = 0;
  cluster.maintenances.for_each([&](uint32_t id, const Maintenance& m) {
    if (!oldest && m.over()) oldest = id;
  });
  if (!oldest) return fail(Errc::kTryAgainLater, {}, "there are " + std::to_string(Maintenance::kMost) + " maintenances that are not over");
  return oldest;
}

Result<> check_not_held(const Cluster& cluster, const std::vector<MaintenanceNode>& nodes) {
  std::set<uint32_t> wanted;
  for (const MaintenanceNode& n : nodes) wanted.insert(n.node.value);
  std::string refusal;
  cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (m.over() || !refusal.empty()) return;
    for (const MaintenanceNode& n : m.nodes)
      if (!is_over(n.step) && wanted.contains(n.node.value)) {
        refusal = "node " + n.name + " is part of maintenance '" + m.name + "', which is not over";
        return;
      }
  });
  if (!refusal.empty()) return wrong(refusal);
  return {};
}

Result<std::vector<MaintenanceNode>> nodes_of(const View& view, const rpc::StartMaintenance& request) {
  if (request.nodes.empty()) return wrong("--nodes says which nodes are meant");
  MUSTER_TRY(nodes, select_nodes(view, request.nodes.text()));
  std::vector<MaintenanceNode> out;
  std::set<uint32_t> seen;
  for (const Node* n : nodes)
    if (seen.insert(n->id.value).second) out.push_back({n->id, n->spec->name, MaintenanceStep::kWaiting, {}, view.now});
  if (out.size() > Maintenance::kMostNodes)
    return wrong("--nodes: " + std::to_string(out.size()) + " nodes, at most " + std::to_string(Maintenance::kMostNodes));
  return out;
}

NodeFacts facts_of(const View& view, const MaintenanceNode& node) {
  NodeFacts out;
  const Node* found = view.cluster.nodes.find(node.node.value);
  if (!found || found->spec->name != node.name) return out;
  out.there = true;
  out.connected = found->connected;
  out.admin = found->admin;
  out.flags = found->flags;
  out.reason = found->reason;
  if (node.step != MaintenanceStep::kWaiting) return out;
  for (JobId id : view.indexes.jobs_on(found->id)) {
    const Job* job = view.cluster.jobs.find(id.value);
    if (!job) continue;
    const bool ends = job->finished() || job->ends != kTimeUnset;
    out.free_at = std::max(out.free_at, !ends ? kTimeInfinite : job->finished() ? view.now : job->ends);
  }
  return out;
}

// Drains the node and has it reboot when it is idle, as scontrol reboot does.
Result<> begin(const View& view, const Maintenance& maintenance, const Node& node, Decision<rpc::Empty>& out) {
  MUSTER_TRY_VOID(check_program(view.settings.config(), maintenance.action));
  Node drained = node;
  drained.flags |= kNodeDrain;
  drained.reason = maintenance_reason(maintenance);
  drained.reason_uid = maintenance.owner;
  drained.reason_time = view.now;
  rpc::ControlNodes reboot;
  reboot.action = rpc::NodeAction::kReboot;
  reboot.power_action = maintenance.action;
  WakeRoom room(view);
  return control_node(view, drained, reboot, room, out.events, out.orders);
}

void let_go(const View& view, const Node& node, bool release, Events& out) {
  const bool asked = node.flags & kNodeRebootRequested;
  if (!release && !asked) return;
  event::NodeStateChanged change = state_of(node, view.now);
  if (asked) {
    change.flags &= ~kNodeRebootRequested;
    change.power_action.clear();
    change.next_state = NodeState::kUnknown;
  }
  if (release) {
    change.flags &= ~kNodeDrain;
    change.reason.clear();
    change.action_drained = false;
  }
  out.push_back(std::move(change));
}

void carry_out(const View& view, const Maintenance& maintenance, MaintenanceMove move, Decision<rpc::Empty>& out) {
  const Node* node = view.cluster.nodes.find(maintenance.nodes[move.index].node.value);
  if (node && move.deed == NodeDeed::kBegin) {
    if (auto begun = begin(view, maintenance, *node, out); !begun) {
      move.to = MaintenanceStep::kFailed;
      move.why = begun.error().hint.empty() ? std::string(begun.error().message()) : begun.error().hint;
    }
  } else if (node && move.deed != NodeDeed::kNone) {
    let_go(view, *node, move.deed == NodeDeed::kRelease, out.events);
  }
  out.events.push_back(event::MaintenanceNodeMoved{maintenance.id, move.index, move.to, std::move(move.why), view.now});
}

}  // namespace

bool moves_maintenances(const Event& event) {
  return std::holds_alternative<event::NodeStateChanged>(event) || std::holds_alternative<event::NodeRegistered>(event) ||
         std::holds_alternative<event::NodeRemoved>(event) || std::holds_alternative<event::NodeDefined>(event) ||
         std::holds_alternative<event::MaintenanceBegun>(event) || std::holds_alternative<event::MaintenanceStateSet>(event) ||
         std::holds_alternative<event::MaintenanceNodeMoved>(event);
}

Decision<rpc::Empty> keep_maintenances(const View& view) {
  Decision<rpc::Empty> out;
  view.cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (m.over()) return;
    std::vector<NodeFacts> facts;
    facts.reserve(m.nodes.size());
    for (const MaintenanceNode& node : m.nodes) facts.push_back(is_over(node.step) ? NodeFacts{} : facts_of(view, node));
    MaintenanceNext next = next_of(m, facts);
    for (MaintenanceMove& move : next.moves) carry_out(view, m, std::move(move), out);
    if (next.state)
      out.events.push_back(event::MaintenanceStateSet{m.id, *next.state, next.why, next.ended ? view.now : Time{kTimeUnset}, false});
  });
  return out;
}

Time next_maintenance_time(const View& view) {
  bool open = false;
  view.cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) { open = open || !m.over(); });
  return open ? view.now + kMaintenanceCheck : kTimeInfinite;
}

Result<Decision<rpc::Empty>> decide(const View& view, const rpc::StartMaintenance& request) {
  MUSTER_TRY_VOID(check_name(request.name));
  MUSTER_TRY_VOID(check_numbers(request));
  MUSTER_TRY_VOID(check_program(view.settings.config(), request.power_action));
  MUSTER_TRY(forgotten, one_to_forget(view.cluster, request.name));
  MUSTER_TRY(nodes, nodes_of(view, request));
  MUSTER_TRY_VOID(check_not_held(view.cluster, nodes));
  auto made = std::make_shared<Maintenance>();
  made->id = view.cluster.last_maintenance + 1;
  made->name = request.name;
  made->owner = view.caller.uid;
  made->at_once = request.at_once;
  made->stop_after = request.stop_after;
  made->action = request.power_action;
  made->reason = request.reason;
  made->begun = view.now;
  made->nodes = std::move(nodes);
  Decision<rpc::Empty> d;
  d.events.push_back(event::MaintenanceBegun{std::move(made), forgotten});
  return d;
}

Result<Decision<rpc::Empty>> decide(const View& view, const rpc::ControlMaintenance& request) {
  const Maintenance* known = find_maintenance(view.cluster, request.name);
  if (!known) return wrong("there is no maintenance '" + request.name + "'; muster maintenance show lists them");
  using enum MaintenanceState;
  event::MaintenanceStateSet change{known->id, kPaused, {}, known->ended, false};
  bool possible = false;
  switch (request.order) {
    case rpc::MaintenanceOrder::kPause: possible = known->state == kActive; break;
    case rpc::MaintenanceOrder::kContinue:
      possible = known->state == kPaused;
      change.state = kActive;
      change.count_anew = true;
      break;
    case rpc::MaintenanceOrder::kCancel:
      possible = known->state == kActive || known->state == kPaused;
      change.state = kCancelled;
      break;
  }
  if (!possible) return wrong("maintenance '" + known->name + "' is " + std::string(maintenance_state_name(known->state)));
  Decision<rpc::Empty> d;
  d.events.push_back(std::move(change));
  return d;
}

}  // namespace muster::slurmctld
