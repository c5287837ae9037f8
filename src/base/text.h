// Small text helpers that the parsers share.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

std::string_view trim(std::string_view s);
std::string to_lower(std::string_view s);
bool iequals(std::string_view a, std::string_view b);
bool istarts_with(std::string_view s, std::string_view prefix);
std::vector<std::string_view> split(std::string_view s, char sep, bool keep_empty = false);
// Splits at commas that stand outside [] (host lists, gres lists).
std::vector<std::string_view> split_outside_brackets(std::string_view text, char sep = ',');
std::string join(const std::vector<std::string>& parts, std::string_view sep);

// The whole of `s` as a number within [min, max]; nullopt otherwise. No leading '+', no trailing text, and a '-' only for a signed T.
template <class T>
std::optional<T> parse_number(std::string_view s, T min = std::numeric_limits<T>::min(), T max = std::numeric_limits<T>::max()) {
  T v{};
  auto [p, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (ec != std::errc() || p != s.data() + s.size() || s.empty() || v < min || v > max) return std::nullopt;
  return v;
}

// Memory as --mem takes it: number with K, M, G, T (and an optional B); default unit M. Result in MiB, rounded up.
Result<uint64_t> parse_mem_mb(std::string_view text);
// A count with a suffix k, m, g or t (powers of 1024), as gres counts take it.
std::optional<uint64_t> parse_count(std::string_view s);
// MiB as squeue/scontrol print it: 900G, 1500M, 0.
std::string format_mem_mb(uint64_t mb);

// The candidate nearest to `word` by edit distance, if it is near enough to be a likely typing error; "" otherwise.
std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace muster
