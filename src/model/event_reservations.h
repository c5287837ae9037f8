// Events of reservations.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <string>

#include "base/describe.h"
#include "model/reservation.h"

namespace muster::event {

enum class ReservationProgram : uint8_t { kNone, kProlog, kEpilog };  // ResvProlog, ResvEpilog

struct ReservationSet {  // new or changed, whole
  static constexpr uint32_t kNumber = 500;
  static constexpr const char* kName = "ReservationSet";
  ReservationPtr reservation;
  Time time{};
  ReservationProgram run = ReservationProgram::kNone;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "reservation", self.reservation);
    field(2, "time", self.time);
    field(3, "run", self.run);
  }
};

struct ReservationRemoved {  // deleted, or over
  static constexpr uint32_t kNumber = 501;
  static constexpr const char* kName = "ReservationRemoved";
  uint32_t id = 0;
  Time time{};
  ReservationProgram run = ReservationProgram::kNone;
  std::string name;  // for the program
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "time", self.time);
    field(3, "run", self.run);
    field(4, "name", self.name);
  }
};

}  // namespace muster::event
