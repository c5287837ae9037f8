// Events of maintenances.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/describe.h"
#include "model/maintenance.h"

namespace muster::event {

struct MaintenanceBegun {
  static constexpr uint32_t kNumber = 537;
  static constexpr const char* kName = "MaintenanceBegun";
  std::shared_ptr<const Maintenance> maintenance;  // by a pointer: an event in a list has the size of the largest kind
  uint32_t forgotten = 0;                          // one that is over and makes room; 0: none
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "maintenance", self.maintenance);
    field(2, "forgotten", self.forgotten);
  }
};

struct MaintenanceStateSet {  // by an operator; or it stopped by itself, or is over
  static constexpr uint32_t kNumber = 538;
  static constexpr const char* kName = "MaintenanceStateSet";
  uint32_t maintenance = 0;
  MaintenanceState state = MaintenanceState::kActive;
  std::string why;
  Time ended{};
  bool count_anew = false;  // failures until now are forgiven
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "maintenance", self.maintenance);
    field(2, "state", self.state);
    field(3, "why", self.why);
    field(4, "ended", self.ended);
    field(5, "count_anew", self.count_anew);
  }
};

struct MaintenanceNodeMoved {  // a node is one step further
  static constexpr uint32_t kNumber = 539;
  static constexpr const char* kName = "MaintenanceNodeMoved";
  uint32_t maintenance = 0;
  uint32_t index = 0;  // in Maintenance::nodes
  MaintenanceStep step = MaintenanceStep::kWaiting;
  std::string why;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "maintenance", self.maintenance);
    field(2, "index", self.index);
    field(3, "step", self.step);
    field(4, "why", self.why);
    field(5, "time", self.time);
  }
};

}  // namespace muster::event
