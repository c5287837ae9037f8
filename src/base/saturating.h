// Arithmetic on numbers that people type: a product too large stays at the greatest value, where wrapping round could give one that fits.
#pragma once

#include <cstdint>

namespace muster {

constexpr uint64_t add_sat(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

constexpr uint64_t mul_sat(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

}  // namespace muster
