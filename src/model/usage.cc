#include "model/usage.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace muster {
namespace {

// In doubles, since the difference of two points in time may be too large for a Duration; exact for all dates before the year 2255.
double seconds_between(Time from, Time to) {
  if (to <= from) return 0;
  return (static_cast<double>(to.time_since_epoch().count()) - static_cast<double>(from.time_since_epoch().count())) / 1e6;
}

double half_lives_between(Time from, Time to, Duration half_life) {
  if (half_life <= Duration::zero()) return 0;
  return seconds_between(from, to) * 1e6 / static_cast<double>(half_life.count());
}

}  // namespace

// `!(x > 0)` is true of NaN as well.
double bounded(double amount) { return !(amount > 0) ? 0 : std::min(amount, kMostUsage); }

Elapsed elapsed(Time from, Time to, Duration half_life) {
  const double half_lives = half_lives_between(from, to, half_life), decay = half_lives * std::numbers::ln2;
  // The mean of e^-x for x in 0 … decay. expm1 keeps all digits where the time is short; without decay it would be 0/0.
  const double mean = decay > 0 ? -std::expm1(-decay) / decay : 1;
  return {std::exp2(-half_lives), seconds_between(from, to) * mean};
}

std::optional<double> seconds_until(double limit, double amount, double rate, Duration half_life) {
  amount = bounded(amount);
  rate = bounded(rate);
  if (amount >= limit) return 0;
  if (rate <= 0) return std::nullopt;
  if (half_life <= Duration::zero()) return (limit - amount) / rate;
  const double mean_life = static_cast<double>(half_life.count()) / 1e6 / std::numbers::ln2;
  const double in_the_end = rate * mean_life;  // where it would stay
  if (in_the_end <= limit) return std::nullopt;
  return mean_life * std::log1p((limit - amount) / (in_the_end - limit));
}

}  // namespace muster
