// The age of a waiting job that does not grow for now, as Job::accrues has it: as far before the end of time as the job is old. So one number
// says either since when the age grows or how much of it there is. kTimeInfinite: none yet.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster {

inline constexpr Duration kGreatestAge = std::chrono::hours(24 * 365 * 100);

constexpr Time stopped_at(Duration age) { return kTimeInfinite - std::clamp(age, Duration::zero(), kGreatestAge); }
// How old the job is; nullopt: its age grows.
constexpr std::optional<Duration> stopped_age(Time accrues) {
  if (accrues < kTimeInfinite - kGreatestAge) return std::nullopt;
  return kTimeInfinite - accrues;
}

}  // namespace muster
