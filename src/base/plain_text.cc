#include "base/plain_text.h"

#include <cstdint>
#include <cstring>

#include "base/utf8.h"

namespace muster {
namespace {

void append_quoted(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto u = static_cast<uint8_t>(c);
  if (c == '\n') out += "\\n";
  else if (c == '\r') out += "\\r";
  else if (c == '\t') out += "\\t";
  else out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
}

// Whether all eight characters are printable ASCII: the highest bit of a byte tells of one that is above 0x7e, or below a blank.
bool are_printable(const char* eight) {
  constexpr uint64_t kOnes = ~uint64_t{0} / 0xff;
  uint64_t word;
  std::memcpy(&word, eight, sizeof word);
  const uint64_t low = word & (kOnes * 0x7f);  // sums of these do not run over into the next byte
  return !((word | (low + kOnes)) & (kOnes * 0x80)) && ((low + kOnes * 0x60) & (kOnes * 0x80)) == kOnes * 0x80;
}

// Where the part of `text` from `at` on that needs no quoting ends.
size_t end_of_plain(std::string_view text, size_t at) {
  while (text.size() - at >= 8 && are_printable(text.data() + at)) at += 8;
  // Nearly every text is printable. Its last word may begin before it, in what was looked at or in the key that stands there.
  if (text.size() >= 8 && text.size() - at < 8 && are_printable(text.data() + text.size() - 8)) return text.size();
  while (at < text.size()) {
    const auto u = static_cast<uint8_t>(text[at]);
    if (u >= 0x20 && u < 0x7f) {
      ++at;
      continue;
    }
    const size_t n = plain_length(text, at);
    if (!n) return at;
    at += n;
  }
  return at;
}

}  // namespace

size_t plain_length(std::string_view s, size_t i) {
  const auto u = static_cast<uint8_t>(s[i]);
  if (u < 0x20 || u == 0x7f) return 0;
  const size_t n = utf8_length(s, i);
  // U+0080 … U+009F are control characters of their own: 0x9b begins a sequence as ESC [ does.
  if (n == 2 && u == 0xc2 && static_cast<uint8_t>(s[i + 1]) < 0xa0) return 0;
  return n;
}

void append_plain(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t end = end_of_plain(text, i);
    out.append(text, i, end - i);
    if (end < text.size()) append_quoted(out, text[end]);
    i = end + 1;
  }
}

std::string plain(std::string_view text) {
  std::string out;
  append_plain(out, text);
  return out;
}

void make_plain(std::string& out, size_t from) {
  if (end_of_plain(out, from) >= out.size()) return;
  const std::string text = out.substr(from);
  out.resize(from);
  append_plain(out, text);
}

}  // namespace muster
