// Products of what people type stay at the top instead of wrapping round to something that fits.
#pragma once

#include <cstdint>

namespace muster {

constexpr uint64_t mul_sat(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

}  // namespace muster
