// Masks of CPUs and devices as text: "0x3F". Printed with at least `digits` digits; read with or without 0x.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/bitmap.h"

namespace muster {

std::string hex_mask(const Bitmap& bits, size_t digits = 1);
bool parse_hex_mask(std::string_view text, Bitmap& out, size_t limit = 1u << 16);  // false: not a mask

}  // namespace muster
