// Usage: how an amount that halves with every half-life (slurm.conf(5) PriorityDecayHalfLife) changes in a stretch of time. Pure: who asks
// brings the moments. Nothing is decayed by a timer, so it does not matter how often somebody asks, or how a stretch is cut;
// PriorityCalcPeriod has no part in it. The amounts are in model/usage_book.h. Guide classic_fair_share ("U[H]").
//
// Units: an amount is TRES-seconds, a rate is such seconds per second. A half-life of 0 or less: nothing decays. Errors: none; an amount
// or a rate that is no number or below 0 counts as 0, and a greater one than kMostUsage as that, so a sum is never NaN nor infinite.
// Cost: O(1).
#pragma once

#include <optional>

#include "base/time.h"

namespace muster {

inline constexpr double kMostUsage = 1e250;
// 0 of what is no number or below 0, kMostUsage of what is above that.
double bounded(double amount);

// What a stretch of time does: of an amount there is `left` times as much at its end, and of what is used at a rate of 1 all the while
// there is `gained`: the integral, not a sum over periods. Nothing where `to` is not after `from`. Cost: one exponential; a holder with
// many amounts asks once for all of them.
struct Elapsed {
  double left = 1, gained = 0;
};
Elapsed elapsed(Time from, Time to, Duration half_life);

// After how many seconds an amount that decays, and of which `rate` a second is used, comes to `limit`: 0 where it has; nullopt: never,
// for it decays as fast as it grows.
std::optional<double> seconds_until(double limit, double amount, double rate, Duration half_life);

}  // namespace muster
