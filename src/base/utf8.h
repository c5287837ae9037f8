// Tells whether bytes are UTF-8, and makes a copy that is: every byte that is not becomes '?'. Job names may be any bytes, but JSON and
// YAML are text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Length of the well-formed sequence at `at`; 0 if there is none. Overlong forms and surrogates are not well-formed.
inline size_t utf8_length(std::string_view text, size_t at) {
  auto byte = [&](size_t k) { return k < text.size() ? static_cast<uint8_t>(text[k]) : uint8_t{0}; };
  uint8_t b = byte(at);
  if (b < 0x80) return 1;
  size_t n = b >= 0xc2 && b < 0xe0 ? 2 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xf0 && b < 0xf5 ? 4 : 0;
  for (size_t k = 1; k < n; ++k)
    if ((byte(at + k) & 0xc0) != 0x80) return 0;
  if (b == 0xe0 && byte(at + 1) < 0xa0) return 0;
  if (b == 0xed && byte(at + 1) >= 0xa0) return 0;
  if (b == 0xf0 && byte(at + 1) < 0x90) return 0;
  if (b == 0xf4 && byte(at + 1) >= 0x90) return 0;
  return n;
}

inline bool is_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    size_t n = utf8_length(s, i);
    if (!n) return false;
    i += n;
  }
  return true;
}

inline std::string to_utf8(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    size_t n = utf8_length(s, i);
    if (n) out.append(s, i, n);
    else out += '?';
    i += n ? n : 1;
  }
  return out;
}

}  // namespace muster
