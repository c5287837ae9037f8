// Backoff: pauses before the next attempt, doubling up to a bound. Each is drawn from the upper half of its time, so that ten thousand
// nodes that lost the same daemon do not come back in step. The seed is a parameter: daemons pass one that differs among them
// (random_seed()), tests a number.
#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "base/random.h"
#include "base/time.h"

namespace muster::net {

class Backoff {
 public:
  Backoff(Duration first, Duration longest, uint64_t seed) : first_(first), longest_(longest), next_(first), random_(seed) {}

  Duration next() {
    const Duration most = next_;
    next_ = std::min(longest_, most * 2);
    return Duration(static_cast<int64_t>(random_.uniform(static_cast<uint64_t>(most.count()) / 2, static_cast<uint64_t>(most.count()))));
  }
  void reset() { next_ = first_; }

  static uint64_t random_seed() {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed = static_cast<uint64_t>(getpid()) * 0x9e3779b97f4a7c15ull;
    return seed;
  }

 private:
  Duration first_, longest_, next_;
  Random random_;
};

}  // namespace muster::net
