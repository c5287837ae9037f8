#include "sim/check_maintenance.h"

#include <algorithm>

namespace muster::sim {
namespace {

using enum MaintenanceStep;

bool may_follow(MaintenanceStep from, MaintenanceStep to) {
  switch (to) {
    case kDraining: return from == kWaiting;
    case kWorking: return from == kDraining;
    case kDone: return from == kWorking;
    case kFailed:
    case kSkipped: return !is_over(from);
    default: return false;
  }
}

std::string boot_of(const Node& node) { return node.hardware ? node.hardware->boot_id : std::string(); }

bool held_elsewhere(const Cluster& cluster, uint32_t maintenance, NodeId node) {
  bool out = false;
  cluster.maintenances.for_each([&](uint32_t id, const Maintenance& m) {
    if (id == maintenance || m.over()) return;
    out = out || std::ranges::any_of(m.nodes, [&](const MaintenanceNode& n) { return n.node == node && is_held(n.step); });
  });
  return out;
}

// What is wrong with beginning it, or with being done: the node's own state is written before the step.
std::string wrong_to_begin(const Maintenance& m, const Node& node, const Cluster& before) {
  const auto held = std::ranges::count_if(m.nodes, [](const MaintenanceNode& n) { return is_held(n.step); });
  if (m.state != MaintenanceState::kActive) return "begun while the maintenance is " + std::string(maintenance_state_name(m.state));
  if (held >= m.at_once) return "begun beside " + std::to_string(held) + " others; " + std::to_string(m.at_once) + " may be held";
  if (held_elsewhere(before, m.id, node.id)) return "begun while another maintenance holds it";
  if (!(node.flags & kNodeDrain)) return "begun without being drained";
  return {};
}

std::string wrong_when_done(const Node& node, const std::string& boot) {
  if (boot_of(node) == boot) return "done with the boot that it had before";
  if (node.flags & (kNodeDrain | kNodeRebootIssued | kNodeRebootRequested)) return "done and not in service";
  return {};
}

// A node is told to reboot when nothing runs there any more.
std::string wrong_reboot(const event::NodeStateChanged& change, const Cluster& before) {
  const Node* node = before.nodes.find(change.node.value);
  const bool told = node && (change.flags & ~node->flags & kNodeRebootIssued);
  if (!told || !node->has_jobs()) return {};
  return "node " + node->spec->name + " is told to reboot while jobs are there";
}

std::string wrong_end(const event::MaintenanceStateSet& set, const Cluster& before) {
  const Maintenance* m = before.maintenances.find(set.maintenance);
  if (!m || set.ended == kTimeUnset || m->over()) return {};
  const bool all = std::ranges::all_of(m->nodes, [](const MaintenanceNode& n) { return is_over(n.step); });
  return all ? "" : "maintenance " + m->name + " is over, and some of its nodes are not";
}

}  // namespace

std::string MaintenanceWatch::moved(const event::MaintenanceNodeMoved& move, const Cluster& before) {
  const Maintenance* m = before.maintenances.find(move.maintenance);
  if (!m || move.index >= m->nodes.size()) return "a step of a maintenance that is not there";
  const MaintenanceNode& known = m->nodes[move.index];
  const auto say = [&](const std::string& what) {
    return what.empty() ? what : "maintenance " + m->name + ", node " + known.name + ": " + what;
  };
  if (m->over()) return say("a step after the end");
  if (!may_follow(known.step, move.step))
    return say(std::string(maintenance_step_name(known.step)) + ", then " + std::string(maintenance_step_name(move.step)));
  const Node* node = before.nodes.find(known.node.value);
  if (!node) return {};
  std::string& boot = boots_[{move.maintenance, move.index}];
  if (move.step == kDraining) {
    boot = boot_of(*node);
    return say(wrong_to_begin(*m, *node, before));
  }
  return move.step == kDone ? say(wrong_when_done(*node, boot)) : "";
}

std::string MaintenanceWatch::take(const Event& event, const Cluster& before) {
  if (const auto* move = std::get_if<event::MaintenanceNodeMoved>(&event)) return moved(*move, before);
  if (const auto* set = std::get_if<event::MaintenanceStateSet>(&event)) return wrong_end(*set, before);
  if (const auto* change = std::get_if<event::NodeStateChanged>(&event)) return wrong_reboot(*change, before);
  return {};
}

}  // namespace muster::sim
