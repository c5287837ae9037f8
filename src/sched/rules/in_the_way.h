// The reservations that a start would run into, for the rules that check one.
#pragma once

#include <algorithm>

#include "sched/rules/job_rule.h"

namespace muster::sched {

// f(reservation) for each that keeps what it has from the job of an item while that would run. Cost: O(reservations).
template <class F>
void each_in_the_way(const StartQuestion& start, F&& f) {
  const Reservation* own = start.cluster.reservations.find(start.reservation);
  Time end = start.time_limit_min == kUnlimited32 ? kTimeInfinite : start.now + minutes(start.time_limit_min);
  if (own && own->confines()) end = std::min(end, own->end);
  const Duration notice = start.params.preempt.notice(start.request);
  start.cluster.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (&r == own || (own && !own->yields_to(r))) return;
    if (r.starts(start.now) >= end || start.now >= r.ends(start.now)) return;
    if (notice > Duration::zero() && r.max_start_delay >= notice) return;
    f(r);
  });
}

}  // namespace muster::sched
