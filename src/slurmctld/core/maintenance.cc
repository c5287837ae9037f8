#include "slurmctld/core/maintenance.h"

#include <algorithm>
#include <array>

namespace muster::slurmctld {
namespace {

constexpr uint32_t kGoing = kNodePoweredDown | kNodePoweringDown | kNodePowerDownRequested;
constexpr uint32_t kRebooting = kNodeRebootRequested | kNodeRebootIssued;

// The words of the reboot that node_power.cc adds are ours, too.
bool bears(std::string_view reason, std::string_view ours) {
  return reason.starts_with(ours) && (reason.size() == ours.size() || reason.substr(ours.size()).starts_with(" : reboot "));
}

std::string quoted(std::string_view reason) { return reason.empty() ? std::string() : ": " + std::string(reason); }

// What has become of a node that is held; nullopt: nothing yet.
std::optional<MaintenanceMove> fate_of(const MaintenanceNode& node, const NodeFacts& now, std::string_view ours, bool cancelled) {
  using enum MaintenanceStep;
  const bool begun = node.step == kWorking;
  if (!now.there) return MaintenanceMove{0, kSkipped, "it is part of the cluster no longer", NodeDeed::kNone};
  if (now.admin == NodeState::kDown) return MaintenanceMove{0, kFailed, "it is down" + quoted(now.reason), NodeDeed::kWithdraw};
  if (!(now.flags & kNodeDrain)) return MaintenanceMove{0, kSkipped, "it was resumed by hand", NodeDeed::kWithdraw};
  if (!bears(now.reason, ours))
    return MaintenanceMove{0, begun ? kFailed : kSkipped, "it is drained" + quoted(now.reason), NodeDeed::kWithdraw};
  if (now.flags & kGoing) return MaintenanceMove{0, kSkipped, "it was powered down", NodeDeed::kRelease};
  if (now.flags & kNodeRebootIssued) return begun ? std::nullopt : std::optional(MaintenanceMove{0, kWorking, {}, NodeDeed::kNone});
  if (now.flags & kNodeRebootRequested)
    return cancelled ? std::optional(MaintenanceMove{0, kSkipped, "the maintenance was cancelled", NodeDeed::kRelease}) : std::nullopt;
  if (!begun) return MaintenanceMove{0, kFailed, "its reboot was cancelled, and it is still drained", NodeDeed::kNone};
  return now.connected ? std::optional(MaintenanceMove{0, kDone, {}, NodeDeed::kRelease}) : std::nullopt;
}

// Why a node whose turn would be now is left as it is; "": it is not out of service.
std::string taken_by_others(const NodeFacts& now) {
  if (!now.there) return "it is part of the cluster no longer";
  if (now.admin == NodeState::kDown) return "it is down" + quoted(now.reason);
  if (now.admin == NodeState::kFuture) return "it is not there yet";
  if (now.flags & (kNodeDrain | kNodeFail)) return "it is drained" + quoted(now.reason);
  if (now.flags & kGoing) return "it is powered down";
  return {};
}

bool may_begin(const NodeFacts& now) {
  return now.admin == NodeState::kIdle && now.connected && !(now.flags & (kRebooting | kNodePoweringUp | kNodeNoRespond));
}

// Those that are empty first, then those that will be soonest. Where none is left that could be, what others have is left out.
void begin_more(const Maintenance& m, std::span<const NodeFacts> facts, size_t room, MaintenanceNext& out) {
  std::vector<uint32_t> ready, taken;
  for (uint32_t i = 0; i < m.nodes.size(); ++i) {
    if (m.nodes[i].step != MaintenanceStep::kWaiting) continue;
    if (!taken_by_others(facts[i]).empty()) taken.push_back(i);
    else if (may_begin(facts[i])) ready.push_back(i);
  }
  std::ranges::stable_sort(ready, {}, [&](uint32_t i) { return facts[i].free_at; });
  for (size_t i = 0; i < ready.size() && i < room; ++i) out.moves.push_back({ready[i], MaintenanceStep::kDraining, {}, NodeDeed::kBegin});
  if (ready.size() >= room) return;
  for (uint32_t i : taken) out.moves.push_back({i, MaintenanceStep::kSkipped, taken_by_others(facts[i]), NodeDeed::kNone});
}

}  // namespace

std::string maintenance_reason(const Maintenance& m) { return "maintenance " + m.name + (m.reason.empty() ? "" : ": " + m.reason); }

MaintenanceNext next_of(const Maintenance& maintenance, std::span<const NodeFacts> facts) {
  MaintenanceNext out;
  const std::string ours = maintenance_reason(maintenance);
  const bool cancelled = maintenance.state == MaintenanceState::kCancelled;
  size_t held = 0, waiting = 0;
  uint32_t failures = maintenance.failures;
  for (uint32_t index = 0; index < maintenance.nodes.size(); ++index) {
    const MaintenanceNode& node = maintenance.nodes[index];
    if (node.step == MaintenanceStep::kWaiting) {
      if (cancelled) out.moves.push_back({index, MaintenanceStep::kSkipped, "the maintenance was cancelled", NodeDeed::kNone});
      else ++waiting;
    }
    if (!is_held(node.step)) continue;
    ++held;
    auto move = fate_of(node, facts[index], ours, cancelled);
    if (!move) continue;
    move->index = index;
    if (is_over(move->to)) --held;
    if (move->to == MaintenanceStep::kFailed) {
      ++failures;
      out.why = "node " + node.name + " failed: " + move->why;
    }
    out.moves.push_back(std::move(*move));
  }
  if (maintenance.state == MaintenanceState::kActive && waiting) {
    if (failures >= maintenance.stop_after) out.state = MaintenanceState::kPaused;
    else if (held < maintenance.at_once) begin_more(maintenance, facts, maintenance.at_once - held, out);
  }
  if (out.state != MaintenanceState::kPaused) out.why.clear();
  const bool nothing_left = std::ranges::all_of(maintenance.nodes, [](const MaintenanceNode& n) { return is_over(n.step); });
  if (nothing_left) {
    out.ended = true;
    out.state = cancelled ? MaintenanceState::kCancelled : MaintenanceState::kFinished;
  }
  return out;
}

Result<rpc::MaintenanceRows> query_maintenance(const Cluster& cluster, const rpc::QueryMaintenance& query) {
  rpc::MaintenanceRows out;
  cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (!query.name.empty() && m.name != query.name) return;
    rpc::MaintenanceRow& row = out.rows.emplace_back();
    row.counts.assign(kMaintenanceSteps, 0);
    for (const MaintenanceNode& n : m.nodes) ++row.counts[static_cast<size_t>(n.step)];
    row.maintenance = m;
    if (query.name.empty()) row.maintenance.nodes.clear();
  });
  if (!query.name.empty() && out.rows.empty())
    return fail(Errc::kInvalidArgument, {}, "there is no maintenance '" + query.name + "'; muster maintenance show lists them");
  return out;
}

std::string maintenance_of(const Cluster& cluster, NodeId node) {
  using enum MaintenanceStep;
  std::string out;
  cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) {
    if (m.over()) return;
    const auto at = std::ranges::find_if(m.nodes, [&](const MaintenanceNode& n) { return n.node == node && !is_over(n.step); });
    if (at == m.nodes.end()) return;
    const auto over = std::ranges::count_if(m.nodes, [](const MaintenanceNode& n) { return is_over(n.step); });
    const char* next = at->step == kWaiting    ? "it waits for its turn, then it is drained, reboots and returns to service"
                       : at->step == kDraining ? "it reboots when its jobs have ended, then it returns to service"
                                               : "it reboots, and returns to service when it is back";
    out = "maintenance " + m.name + " (" + std::string(maintenance_state_name(m.state)) + "; " + std::to_string(over) + " of " +
          std::to_string(m.nodes.size()) + " nodes are over): " + next;
  });
  return out;
}

}  // namespace muster::slurmctld
