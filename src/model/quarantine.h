// Quarantine: a node that slurmctld takes out of service by itself because jobs of several users fail there (SlurmctldParameters=quarantine=),
// and what has become of it. Muster's own; slurmctld/core/suspicion.h says when a node is suspected, slurmctld/core/quarantine.h what follows.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace muster {

enum class QuarantinePhase : uint8_t {
  kNone,      // it is in none
  kEmptying,  // drained; its jobs go on
  kTesting,   // empty; slurmd tests it
  kReturned,  // passed, and back in service. Remembered for a day
  kFailed,    // stays drained for the administrator
  kAgain,     // suspected within a day of a passed test: stays drained for the administrator
  kLifted,  // somebody else has changed its state or reason: it is theirs. Remembered for a day, since jobs from before say nothing any more
};

struct Quarantine {
  NodeId node{};
  QuarantinePhase phase = QuarantinePhase::kNone;
  Time since{};        // when the node was drained; unset after its return. It names the test, too
  Time changed{};      // when this phase began
  Time returned{};     // of the last passed test; unset: there was none
  std::string reason;  // the node's Reason for as long as nobody else changes it
  // Whether it holds the node out of service, and counts towards the most that may be at once.
  bool holds() const {
    using enum QuarantinePhase;
    return phase == kEmptying || phase == kTesting || phase == kFailed || phase == kAgain;
  }
  bool operator==(const Quarantine&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "phase", self.phase);
    field(3, "since", self.since);
    field(4, "changed", self.changed);
    field(5, "returned", self.returned);
    field(6, "reason", self.reason);
  }
};

}  // namespace muster
