#include "base/text.h"

#include <algorithm>
#include <limits>

namespace muster {
namespace {

// No locale: names and keywords of the formats read here are ASCII.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The power of 1024 a unit letter stands for, or -1.
constexpr int unit_power(char c) {
  constexpr std::string_view units = "kmgtpe";
  size_t at = units.find(lower(c));
  return at == std::string_view::npos ? -1 : static_cast<int>(at) + 1;
}

std::optional<uint64_t> scaled(uint64_t value, int power) {
  int shift = 10 * power;
  if (value != 0 && (shift >= 64 || value > (std::numeric_limits<uint64_t>::max() >> shift))) return std::nullopt;
  return value << shift;
}

size_t digits_at(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && is_digit(s[n])) ++n;
  return n;
}

std::unexpected<Error> bad_mem(std::string_view s, std::string_view rule) {
  std::string text = "Invalid memory size '";
  text.append(s).append("'");
  return fail(Errc::kInvalidArgument, std::move(text), std::string(rule));
}

// Edit distance with swaps of neighbours; stops being exact above `limit`. Rows of the usual table are kept in
// three vectors: O(|left| * |right|) time, O(|right|) memory.
size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> before(right.size() + 1), previous(right.size() + 1), row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      char x = lower(left[i - 1]), y = lower(right[j - 1]);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x != y)});
      if (i > 1 && j > 1 && x == lower(right[j - 2]) && y == lower(left[i - 2])) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[right.size()];
}

}  // namespace

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

std::string to_lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = lower(c);
  return out;
}

bool iequals(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool istarts_with(std::string_view s, std::string_view prefix) {
  return s.size() >= prefix.size() && iequals(s.substr(0, prefix.size()), prefix);
}

std::vector<std::string_view> split(std::string_view s, char sep, bool keep_empty) {
  std::vector<std::string_view> out;
  for (size_t from = 0; from <= s.size();) {
    size_t to = std::min(s.find(sep, from), s.size());
    if (keep_empty || to > from) out.push_back(s.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

std::vector<std::string_view> split_outside_brackets(std::string_view text, char sep) {
  std::vector<std::string_view> out;
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']' && depth > 0) --depth;
    if (i < text.size() && (text[i] != sep || depth > 0)) continue;
    if (i > from) out.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view sep) {
  size_t size = 0;
  for (const std::string& p : parts) size += p.size() + sep.size();
  std::string out;
  out.reserve(size);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) out.append(sep);
    out.append(parts[i]);
  }
  return out;
}

Result<uint64_t> parse_mem_mb(std::string_view text) {
  constexpr std::string_view rule = "a number with an optional unit K, M (default), G or T is expected";
  size_t digits = digits_at(text);
  std::optional<uint64_t> value = parse_number<uint64_t>(text.substr(0, digits));
  if (!value) return bad_mem(text, digits ? "the number is too large" : rule);
  std::string_view unit = text.substr(digits);
  int power = 2;
  if (!unit.empty()) {
    power = unit_power(unit.front());
    if (power < 1 || power > 4) return bad_mem(text, rule);
    if (unit.size() > 2 || (unit.size() == 2 && lower(unit[1]) != 'b')) return bad_mem(text, rule);
  }
  if (power == 1) return *value / 1024 + (*value % 1024 != 0);
  std::optional<uint64_t> mb = scaled(*value, power - 2);
  // The two top values are markers ("not set", "infinite") in data that older tools exchange with us.
  if (!mb || *mb > (std::numeric_limits<uint64_t>::max() >> 2)) return bad_mem(text, "the number is too large");
  return *mb;
}

std::optional<uint64_t> parse_count(std::string_view s) {
  size_t digits = digits_at(s);
  std::optional<uint64_t> value = parse_number<uint64_t>(s.substr(0, digits));
  std::string_view unit = s.substr(digits);
  if (!value || unit.empty()) return value;
  int power = unit_power(unit.front());
  std::string_view rest = unit.substr(1);
  if (power < 1 || !(rest.empty() || iequals(rest, "b") || iequals(rest, "ib"))) return std::nullopt;
  return scaled(*value, power);
}

std::string format_mem_mb(uint64_t mb) {
  if (mb == 0) return "0";
  constexpr std::string_view units = "MGTPE";
  size_t unit = 0;
  while (unit + 1 < units.size() && mb % 1024 == 0) {
    mb /= 1024;
    ++unit;
  }
  return std::to_string(mb) + units[unit];
}

std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongestWord = 128;  // Bounds the work on hostile input.
  if (word.empty() || word.size() > kLongestWord) return {};
  // A third of the letters may differ: "partion" finds "partition", "x" finds nothing.
  size_t best = word.size() / 3 + (word.size() >= 2), best_length = 0;
  std::string_view found;
  for (std::string_view c : candidates) {
    size_t gap = c.size() > word.size() ? c.size() - word.size() : word.size() - c.size();
    if (gap > best || c.empty()) continue;
    size_t distance = edit_distance(word, c);
    bool nearer = distance < best || (distance == best && (found.empty() || c.size() < best_length));
    if (!nearer || distance >= std::max(word.size(), c.size())) continue;
    best = distance;
    best_length = c.size();
    found = c;
  }
  return found;
}

}  // namespace muster
