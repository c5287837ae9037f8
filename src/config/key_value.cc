// Checks values by KeyType: their syntax and bounds.
#include <array>

#include "base/text.h"
#include "base/time.h"
#include "config/key_table.h"
#include "config/purge_age.h"
#include "model/gres_items.h"

namespace muster::config {

std::optional<bool> parse_yes_no(std::string_view text) {
  for (std::string_view yes : {"yes", "y", "true", "t", "up", "1"})
    if (iequals(text, yes)) return true;
  for (std::string_view no : {"no", "n", "false", "f", "down", "0"})
    if (iequals(text, no)) return false;
  return std::nullopt;
}

bool is_infinite(std::string_view text) { return iequals(text, "INFINITE") || iequals(text, "UNLIMITED") || text == "-1"; }

std::optional<int64_t> parse_integer(std::string_view text) {
  if (is_infinite(text)) return -1;
  if (istarts_with(text, "0x")) {
    int64_t v = 0;
    std::string_view digits = text.substr(2);
    auto [p, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), v, 16);
    if (ec != std::errc() || p != digits.data() + digits.size() || v < 0 || digits.starts_with('-')) return std::nullopt;
    return v;
  }
  return parse_number<int64_t>(text, 0);
}

std::optional<int64_t> parse_span_seconds(std::string_view text) {
  if (is_infinite(text)) return -1;
  // [days-]a[:b[:c]]. Without days: minutes, minutes:seconds or hours:minutes:seconds; with days the first number is hours.
  constexpr int64_t kMost = 100'000'000;
  int64_t days = 0;
  bool has_days = false;
  if (size_t dash = text.find('-'); dash != std::string_view::npos) {
    std::optional<int64_t> d = parse_number<int64_t>(text.substr(0, dash), 0, kMost / 1000);
    if (!d) return std::nullopt;
    days = *d;
    has_days = true;
    text = text.substr(dash + 1);
  }
  std::array<int64_t, 3> part{};
  size_t count = 0;
  for (std::string_view piece : split(text, ':', true)) {
    std::optional<int64_t> v = parse_number<int64_t>(piece, 0, kMost);
    if (!v || count == 3) return std::nullopt;
    part[count++] = *v;
  }
  if (count == 0) return std::nullopt;
  if (has_days) return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
  if (count == 1) return part[0] * 60;
  if (count == 2) return part[0] * 60 + part[1];
  return part[0] * 3600 + part[1] * 60 + part[2];
}

namespace {
constexpr std::array<std::string_view, 10> kLevels = {"quiet", "fatal",  "error",  "info",   "verbose",
                                                      "debug", "debug2", "debug3", "debug4", "debug5"};

std::string bounds_text(const KeyRow& row) {
  std::string out = "must be a number";
  if (row.max_value != INT64_MAX) out += " from " + std::to_string(row.min_value) + " to " + std::to_string(row.max_value);
  else out += " of at least " + std::to_string(row.min_value);
  return out + (row.infinite_ok ? " or UNLIMITED" : "");
}

std::string unit_hint(const KeyRow& row) {
  switch (row.type) {
    case KeyType::kSeconds: return "the unit is seconds, without a suffix";
    case KeyType::kMinutes: return "the unit is minutes, without a suffix";
    case KeyType::kMicroseconds: return "the unit is microseconds, without a suffix";
    case KeyType::kMilliseconds: return "the unit is milliseconds, without a suffix";
    default: return {};
  }
}

std::optional<ValueProblem> check_number(const KeyRow& row, std::string_view text) {
  std::optional<int64_t> v = parse_integer(text);
  if (v && *v == -1 && row.infinite_ok) return std::nullopt;
  if (v && *v >= row.min_value && *v <= row.max_value) return std::nullopt;
  return ValueProblem{bounds_text(row), v ? std::string() : unit_hint(row)};
}

std::string choices_shown(const KeyRow& row) {
  std::string out;
  for (std::string_view c : choice_list(row)) out += (out.empty() ? "" : ", ") + std::string(c);
  return out;
}

std::optional<ValueProblem> check_choice(const KeyRow& row, std::string_view word) {
  std::vector<std::string_view> choices = choice_list(row);
  for (std::string_view c : choices)
    if (iequals(c, word)) return std::nullopt;
  // "linux" was written where "jobacct_gather/linux" is meant.
  std::string with_prefix;
  for (std::string_view c : choices)
    if (size_t slash = c.find('/'); slash != std::string_view::npos && iequals(c.substr(slash + 1), word)) with_prefix = c;
  std::string near = with_prefix.empty() ? std::string(did_you_mean(word, choices)) : with_prefix;
  return ValueProblem{"\"" + std::string(word.substr(0, 60)) + "\" is not one of " + choices_shown(row),
                      near.empty() ? std::string() : "did you mean " + near + "?"};
}

std::optional<ValueProblem> check_flags(const KeyRow& row, std::string_view text) {
  for (std::string_view word : split(text, ','))
    if (std::optional<ValueProblem> p = check_choice(row, trim(word))) return p;
  return std::nullopt;
}

std::optional<ValueProblem> check_ports(const KeyRow& row, std::string_view text) {
  size_t dash = text.find('-');
  std::string_view first = text.substr(0, dash), last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  bool range_ok = dash == std::string_view::npos || row.type == KeyType::kPortRange;
  auto a = parse_number<uint32_t>(first, 0, 65535), b = parse_number<uint32_t>(last, 0, 65535);
  if (range_ok && a && b && *a <= *b) return std::nullopt;
  return ValueProblem{row.type == KeyType::kPort ? "must be a port from 1 to 65535" : "must be a port or first-last, each from 1 to 65535",
                      {}};
}

std::optional<ValueProblem> check_percent(std::string_view text) {
  double v = 0;
  if (text.ends_with('%')) text.remove_suffix(1);
  auto [p, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec == std::errc() && p == text.data() + text.size() && v >= 0 && v <= 1e6) return std::nullopt;
  return ValueProblem{"must be a percentage such as 100 or 101.5", {}};
}

std::optional<ValueProblem> check_mem(const KeyRow& row, std::string_view text) {
  if (row.infinite_ok && is_infinite(text)) return std::nullopt;
  if (iequals(text, "UNLIMITED") || parse_mem_mb(text)) return std::nullopt;
  return ValueProblem{"must be a number of mebibytes such as 2048", "K, M, G or T may follow the number"};
}
}  // namespace

std::optional<int> parse_debug_level(std::string_view text) {
  for (size_t i = 0; i < kLevels.size(); ++i)
    if (iequals(text, kLevels[i])) return static_cast<int>(i);
  return parse_number<int>(text, 0, 9);
}

std::string_view debug_level_name(int level) {
  return level >= 0 && level < static_cast<int>(kLevels.size()) ? kLevels[static_cast<size_t>(level)] : "info";
}

std::optional<ValueProblem> check_value(const KeyRow& row, std::string_view text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) return ValueProblem{"holds a control character", {}};
  if (text.empty()) return std::nullopt;  // Key="" takes the default back
  switch (row.type) {
    case KeyType::kInt:
    case KeyType::kSeconds:
    case KeyType::kMinutes:
    case KeyType::kMicroseconds:
    case KeyType::kMilliseconds: return check_number(row, text);
    case KeyType::kBool:
      if (parse_yes_no(text)) return std::nullopt;
      return ValueProblem{"must be YES or NO", {}};
    case KeyType::kTimeSpan:
      if (parse_span_seconds(text)) return std::nullopt;
      return ValueProblem{"is not a time; write minutes, hours:minutes:seconds, days-hours or UNLIMITED", {}};
    case KeyType::kMemMb: return check_mem(row, text);
    case KeyType::kCount:
      if (parse_count(text)) return std::nullopt;
      return ValueProblem{"must be a number, with K, M, G, T or P if need be", {}};
    case KeyType::kEnum: return check_choice(row, text);
    case KeyType::kFlags: return check_flags(row, text);
    case KeyType::kPort:
    case KeyType::kPortRange: return check_ports(row, text);
    case KeyType::kDebugLevel:
      if (parse_debug_level(text)) return std::nullopt;
      return ValueProblem{"is no debug level; use quiet, fatal, error, info, verbose, debug, debug2 ... debug5", {}};
    case KeyType::kGres:
      if (auto parsed = GresItems::parse(text); !parsed) return ValueProblem{parsed.error().text, parsed.error().hint};
      return std::nullopt;
    case KeyType::kPercent:
    case KeyType::kFloat: return check_percent(text);
    case KeyType::kPurgeAge:
      if (parse_purge_age(text)) return std::nullopt;
      return ValueProblem{"must be a number from 1 to " + std::to_string(kLongestPurgeAge) + " with hours, days or months (the default)",
                          "write 12months, 60days or 24hours"};
    case KeyType::kString:
    case KeyType::kPath:
    case KeyType::kHosts:
    case KeyType::kList: break;
  }
  return std::nullopt;
}

}  // namespace muster::config
