// Maintenances: what comes next of one, given what is true of its nodes, and what administrators ask of them. `muster maintenance`.
//
// Each node is drained and told to reboot by the ways of scontrol reboot (node_power.cc), whose states live in the log: a controller that
// starts again goes on. next_of() is pure; keep_maintenances() finds out what is true and turns the moves into events.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

inline constexpr Duration kMaintenanceCheck = seconds(10);  // how often nodes are looked at of which no event speaks

// What is true of a node now.
struct NodeFacts {
  bool there = false;  // it is part of the cluster
  bool connected = false;
  NodeState admin = NodeState::kUnknown;
  uint32_t flags = 0;
  std::string reason;
  Time free_at{};  // when its jobs end at the latest; unset: it has none
};

enum class NodeDeed : uint8_t {
  kNone,
  kBegin,     // drain it and have it reboot when it is idle
  kRelease,   // return it to service
  kWithdraw,  // take the request to reboot back, and nothing else: somebody has it
};
struct MaintenanceMove {
  uint32_t index = 0;  // of Maintenance::nodes
  MaintenanceStep to = MaintenanceStep::kWaiting;
  std::string why;
  NodeDeed deed = NodeDeed::kNone;
};
struct MaintenanceNext {
  std::vector<MaintenanceMove> moves;
  std::optional<MaintenanceState> state;  // it pauses, or is over
  std::string why;
  bool ended = false;
};

// `facts`: one for each of its nodes. Never more than at_once nodes are held when the moves are made. Cost: O(nodes log nodes).
MaintenanceNext next_of(const Maintenance& maintenance, std::span<const NodeFacts> facts);
// The reason that its nodes are drained with.
std::string maintenance_reason(const Maintenance& m);

// The next moves of all that are not over; none: nothing to do now. A move may bring about the next in the same turn (a node that is idle
// reboots as soon as it is drained): whoever calls this calls it again after an event that moves_maintenances(). Nodes only move forward, so
// that ends. Cost: O(nodes + jobs of those that wait).
Decision<rpc::Empty> keep_maintenances(const View& v);
// When to look again though no event speaks; kTimeInfinite: none is open.
Time next_maintenance_time(const View& v);
// Whether the kind of event may bring a maintenance further.
bool moves_maintenances(const Event& event);

Result<rpc::MaintenanceRows> query_maintenance(const Cluster& cluster, const rpc::QueryMaintenance& query);
// For muster explain: that the node is part of one that is not over, and what comes next; "" it is not. Cost: O(nodes of maintenances).
std::string maintenance_of(const Cluster& cluster, NodeId node);

}  // namespace muster::slurmctld
