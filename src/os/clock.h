// The clocks of the shells, and the detection of a wall clock that was set. Core code gets `now` as a parameter.
#pragma once

#include <optional>

#include "base/time.h"

namespace muster::os {

Time wall_now();       // CLOCK_REALTIME
Time monotonic_now();  // CLOCK_BOOTTIME: never steps, counts suspension; comparable only with itself
Time boot_time();      // wall time at which this machine started

// Tells when the wall clock jumped against the monotonic one (NTP step, an admin's `date -s`, a resumed VM): leases and time limits
// measured on the wall clock must then be re-based. Slewing moves both clocks and is not a step.
class ClockStepDetector {
 public:
  explicit ClockStepDetector(Duration threshold = milliseconds(1000)) : threshold_(threshold) {}
  // The size of the step since the last call, positive = the wall clock went forward; nullopt = none.
  std::optional<Duration> check() { return check(wall_now(), monotonic_now()); }
  std::optional<Duration> check(Time wall, Time monotonic);

 private:
  Duration threshold_;
  std::optional<Duration> offset_;
};

}  // namespace muster::os
