// A small seeded generator for simulation and property tests: the same seed gives the same numbers everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

class Random {  // splitmix64
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [lo, hi].
  uint64_t uniform(uint64_t lo, uint64_t hi) { return lo + (hi == UINT64_MAX && lo == 0 ? next() : next() % (hi - lo + 1)); }
  bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }
  template <class C>
  const auto& pick(const C& from) {
    return from[static_cast<size_t>(next() % from.size())];
  }
  Random fork() { return Random(next()); }

 private:
  uint64_t state_;
};

}  // namespace muster
