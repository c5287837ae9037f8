// Arithmetic on numbers that people type: a product too large stays at the greatest value, where wrapping round could give one that fits.
#pragma once

#include <cstdint>

namespace muster {

constexpr uint64_t add_sat(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

// The whole part; 0 of what is no number or below 0.
constexpr uint64_t to_count(double amount) {
  constexpr double kEnd = 18446744073709551616.0;  // 2^64
  if (!(amount > 0)) return 0;
  return amount >= kEnd ? UINT64_MAX : static_cast<uint64_t>(amount);
}

constexpr uint64_t mul_sat(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

}  // namespace muster
