// Maintenance: nodes that are drained, rebooted and returned to service a few at a time, as one thing with a name. `muster maintenance`,
// docs/operating.md. What comes next is decided by slurmctld/core/maintenance.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/node_names.h"

namespace muster {

// How far a node is. In the event log: append only.
enum class MaintenanceStep : uint8_t {
  kWaiting,   // its turn has not come
  kDraining,  // drained, its jobs go on to their ends
  kWorking,   // it was told to reboot
  kDone,      // back in service
  kFailed,    // it did not come back, or came back drained; left as it is
  kSkipped,   // left as it is: somebody else has it, or it is gone
};
inline constexpr size_t kMaintenanceSteps = 6;
std::string_view maintenance_step_name(MaintenanceStep step);  // "waiting"
inline bool is_held(MaintenanceStep s) { return s == MaintenanceStep::kDraining || s == MaintenanceStep::kWorking; }
inline bool is_over(MaintenanceStep s) { return s >= MaintenanceStep::kDone; }

// In the event log: append only. A cancelled one still sees to the nodes that were told to reboot.
enum class MaintenanceState : uint8_t { kActive, kPaused, kCancelled, kFinished };
std::string_view maintenance_state_name(MaintenanceState state);  // "active"

struct MaintenanceNode {
  NodeId node{};
  std::string name;
  MaintenanceStep step = MaintenanceStep::kWaiting;
  std::string why;  // of one that failed or was skipped
  Time since{};     // of this step
  bool operator==(const MaintenanceNode&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "name", self.name);
    field(3, "step", self.step);
    field(4, "why", self.why);
    field(5, "since", self.since);
  }
};

struct Maintenance {
  static constexpr size_t kMost = 64;          // that are known at a time
  static constexpr size_t kMostNodes = 20000;  // of one
  static constexpr size_t kLongestName = 64;
  static constexpr size_t kLongestReason = 256;
  uint32_t id = 0;
  std::string name;
  Uid owner{};
  uint32_t at_once = 1;     // nodes that are held at a time, at most
  uint32_t stop_after = 1;  // failures after which it pauses
  std::string action;       // the PowerAction; "" RebootProgram
  std::string reason;       // what the owner says; may be ""
  MaintenanceState state = MaintenanceState::kActive;
  std::string why;  // why it is paused; "": its owner, or another operator, said so
  Time begun{};
  Time ended{};           // unset: not all of its nodes are over
  uint32_t failures = 0;  // since it was begun or continued
  std::vector<MaintenanceNode> nodes;
  bool operator==(const Maintenance&) const = default;
  bool over() const { return ended != kTimeUnset; }
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "name", self.name);
    field(3, "owner", self.owner);
    field(4, "at_once", self.at_once);
    field(5, "stop_after", self.stop_after);
    field(6, "action", self.action);
    field(7, "reason", self.reason);
    field(8, "state", self.state);
    field(9, "why", self.why);
    field(10, "begun", self.begun);
    field(11, "ended", self.ended);
    field(12, "failures", self.failures);
    field(13, "nodes", self.nodes);
  }
};

namespace rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

struct StartMaintenance {
  std::string name;
  Parsed<NodeNames> nodes;
  uint32_t at_once = 1, stop_after = 1;
  std::string power_action;  // as ControlNodes has it; "" RebootProgram
  std::string reason;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "nodes", self.nodes); field(3, "at_once", self.at_once);
                field(4, "stop_after", self.stop_after); field(5, "power_action", self.power_action); field(6, "reason", self.reason);)
};
enum class MaintenanceOrder : uint8_t { kPause, kContinue, kCancel };
struct ControlMaintenance {
  std::string name;
  MaintenanceOrder order = MaintenanceOrder::kPause;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "order", self.order);)
};
struct QueryMaintenance {
  std::string name;  // "": all, without their nodes
  MUSTER_FIELDS(field(1, "name", self.name);)
};
struct MaintenanceRow {
  Maintenance maintenance;
  std::vector<uint32_t> counts;  // nodes by MaintenanceStep
  MUSTER_FIELDS(field(1, "maintenance", self.maintenance); field(2, "counts", self.counts);)
};
struct MaintenanceRows {
  std::vector<MaintenanceRow> rows;
  MUSTER_FIELDS(field(1, "rows", self.rows);)
};

#undef MUSTER_FIELDS

}  // namespace rpc
}  // namespace muster
