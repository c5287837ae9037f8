#include "base/bitmap.h"

#include <charconv>
#include <string_view>

namespace muster {
namespace {

void append(std::string& out, size_t n) {
  char digits[20];
  auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
  out.append(digits, end);
}

// Takes the decimal number at the front of `s`; false when there is none or it reaches `limit`.
bool take_index(std::string_view& s, size_t limit, size_t& value) {
  if (s.empty() || s.front() < '0' || s.front() > '9') return false;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || value >= limit) return false;
  s.remove_prefix(static_cast<size_t>(end - s.data()));
  return true;
}

}  // namespace

std::string Bitmap::to_ranges() const {
  std::string out;
  for (size_t from = first(); from != npos;) {
    size_t last = from;
    while (test(last + 1)) ++last;
    if (!out.empty()) out += ',';
    append(out, from);
    if (last != from) {
      out += '-';
      append(out, last);
    }
    from = next(last + 1);
  }
  return out;
}

bool Bitmap::parse_ranges(std::string_view text, Bitmap& out, size_t limit) {
  Bitmap result;
  while (!text.empty()) {
    size_t from = 0;
    if (!take_index(text, limit, from)) return false;
    size_t last = from;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      if (!take_index(text, limit, last) || last < from) return false;
    }
    if (result.size() <= last) result.resize(last + 1);
    result.set_range(from, last + 1);
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  out = std::move(result);
  return true;
}

}  // namespace muster
