// Usage: how much was used of late, as one number that halves with every half-life (slurm.conf(5) PriorityDecayHalfLife), kept as an amount
// and the moment for which it holds. Pure: who asks brings the moment. Nothing is decayed by a timer, so it does not matter how often
// somebody asks, or how an interval is cut into charges; PriorityCalcPeriod has no part in it. Guide classic_fair_share ("U[H]"). To
// reset usage (PriorityUsageResetPeriod) is to put a Usage{0, now} in its place.
//
// Units: an amount is TRES-weighted seconds (CPU-seconds where no weights are set), a rate is such seconds per second. A half-life of 0 or
// less: nothing decays. Errors: none; an amount or a rate that is no number or below 0 counts as 0, and a greater one than kMostUsage as
// that, so a sum is never NaN nor infinite. Cost: O(1).
#pragma once

#include "base/describe.h"
#include "base/time.h"

namespace muster {

inline constexpr double kMostUsage = 1e250;
// 0 of what is no number or below 0, kMostUsage of what is above that.
double bounded(double amount);

struct Usage {
  double amount = 0;
  Time at{};
  bool operator==(const Usage&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "amount", s.amount);
    v(2, "at", s.at);
  }
};

// What a stretch of time does: of an amount there is `left` times as much at its end, and of what is used at a rate of 1 all the while
// there is `gained`. Cost: one exponential; a holder with many amounts asks once for all of them.
struct Elapsed {
  double left = 1, gained = 0;
};
Elapsed elapsed(Time from, Time to, Duration half_life);

// What is left of it at `now`: half after a half-life. Before usage.at it is the whole amount: usage does not grow by itself.
double left_of(const Usage& usage, Time now, Duration half_life);

// What is left at `to` of what a job used that took `rate` a second from `from` to `to`. It decays while it accrues: this is the integral,
// not a sum over periods. 0 where `to` is not after `from`.
double accrued(double rate, Time from, Time to, Duration half_life);

// Adds that to `usage`, which then holds for `to`. Where `to` is before usage.at:
//   by a half-life at most, or where nothing decays: the charge comes late (jobs end in any order). It is decayed until usage.at, so the
//     order of charges makes no difference;
//   by more: the clock that set usage.at was wrong and has stepped back. The amount stays as it is and holds for `to` from now on.
//     Otherwise nothing would decay, and no charge count, until the clock has come to usage.at again, perhaps in years.
void charge(Usage& usage, double rate, Time from, Time to, Duration half_life);

// Whether a charge that ends at `to` comes late for an amount that holds for `at`; where it does not and yet lies before, the clock was
// set back.
bool is_late(Time to, Time at, Duration half_life);

}  // namespace muster
