#include "os/clock.h"

#include <time.h>

namespace muster::os {
namespace {

Time read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return Time(seconds(t.tv_sec) + Duration(t.tv_nsec / 1000));
}

}  // namespace

Time wall_now() { return read_clock(CLOCK_REALTIME); }
Time monotonic_now() { return read_clock(CLOCK_BOOTTIME); }
Time boot_time() { return Time(wall_now() - monotonic_now()); }

std::optional<Duration> ClockStepDetector::check(Time wall, Time monotonic) {
  const Duration offset = wall - monotonic;
  const std::optional<Duration> before = offset_;
  offset_ = offset;
  if (!before) return std::nullopt;
  const Duration step = offset - *before;
  if (step < threshold_ && step > -threshold_) {
    // Measured against the first offset, so that many small steps add up to one that is told.
    offset_ = before;
    return std::nullopt;
  }
  return step;
}

}  // namespace muster::os
