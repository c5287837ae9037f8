#include "base/hex_mask.h"

namespace muster {

std::string hex_mask(const Bitmap& bits, size_t digits) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (size_t i = 0; i < bits.size(); i += 4) {
    unsigned v = 0;
    for (size_t b = 0; b < 4; ++b) v |= static_cast<unsigned>(bits.test(i + b)) << b;
    text.push_back(kHex[v]);
  }
  while (!text.empty() && text.back() == '0') text.pop_back();
  if (text.size() < digits) text.resize(digits, '0');
  return "0x" + std::string(text.rbegin(), text.rend());
}

bool parse_hex_mask(std::string_view text, Bitmap& out, size_t limit) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.empty() || text.size() * 4 > limit) return false;
  Bitmap result(text.size() * 4);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[text.size() - 1 - i];
    unsigned v = 16;
    if (c >= '0' && c <= '9') v = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') v = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') v = static_cast<unsigned>(c - 'A') + 10;
    if (v == 16) return false;
    for (size_t b = 0; b < 4; ++b)
      if (v >> b & 1) result.set(i * 4 + b);
  }
  out = std::move(result);
  return true;
}

}  // namespace muster
