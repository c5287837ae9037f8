#include "options/values.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/text.h"

namespace muster {
namespace {

std::string str(std::string_view s) { return std::string(s); }

struct SignalName {
  const char* name;
  uint8_t number;
};
constexpr SignalName kSignals[] = {
    {"HUP", 1},   {"INT", 2},     {"QUIT", 3},  {"ILL", 4},    {"TRAP", 5},  {"ABRT", 6},  {"BUS", 7},   {"FPE", 8},
    {"KILL", 9},  {"USR1", 10},   {"SEGV", 11}, {"USR2", 12},  {"PIPE", 13}, {"ALRM", 14}, {"TERM", 15}, {"STKFLT", 16},
    {"CHLD", 17}, {"CONT", 18},   {"STOP", 19}, {"TSTP", 20},  {"TTIN", 21}, {"TTOU", 22}, {"URG", 23},  {"XCPU", 24},
    {"XFSZ", 25}, {"VTALRM", 26}, {"PROF", 27}, {"WINCH", 28}, {"IO", 29},   {"PWR", 30},  {"SYS", 31},
};

// A node count, perhaps with the suffix k (1024) or m (1048576).
std::optional<uint32_t> count_with_suffix(std::string_view s) {
  uint64_t factor = 1;
  if (!s.empty() && (s.back() == 'k' || s.back() == 'K')) factor = 1024;
  if (!s.empty() && (s.back() == 'm' || s.back() == 'M')) factor = 1024 * 1024;
  if (factor != 1) s.remove_suffix(1);
  auto v = parse_number<uint64_t>(s, 0, std::numeric_limits<int32_t>::max());
  if (!v || *v * factor > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) return std::nullopt;
  return static_cast<uint32_t>(*v * factor);
}

std::unexpected<Error> bad_node_count(std::string_view text) {
  return fail(Errc::kInvalidNodeCount, "\"" + str(text) + "\" is not a valid node count");
}

// Reads "1,3,5" or "1-15:4". The result lists the counts in ascending order and without repetition.
Result<NodeCount> parse_size_string(std::string_view text) {
  constexpr size_t kMaxSizes = 4096;
  std::vector<uint32_t> sizes;
  for (std::string_view part : split(text, ',', true)) {
    uint32_t step = 1;
    if (size_t colon = part.find(':'); colon != part.npos) {
      auto s = count_with_suffix(part.substr(colon + 1));
      if (!s || *s == 0) return bad_node_count(text);
      step = *s;
      part = part.substr(0, colon);
    }
    size_t dash = part.find('-');
    auto low = count_with_suffix(part.substr(0, dash));
    auto high = dash == part.npos ? low : count_with_suffix(part.substr(dash + 1));
    if (!low || !high || *low == 0 || *high < *low) return bad_node_count(text);
    if ((*high - *low) / step + 1 + sizes.size() > kMaxSizes) return bad_node_count(text);
    for (uint64_t n = *low; n <= *high; n += step) sizes.push_back(static_cast<uint32_t>(n));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  NodeCount out{sizes.front(), sizes.back(), {}};
  for (uint32_t n : sizes) out.sizes += (out.sizes.empty() ? "" : ",") + std::to_string(n);
  return out;
}

}  // namespace

Result<NodeCount> parse_node_count(std::string_view text) {
  if (text.find_first_of(",:") != text.npos) return parse_size_string(text);
  size_t dash = text.find('-');
  auto low = count_with_suffix(text.substr(0, dash));
  if (!low) return bad_node_count(text);
  if (dash == text.npos) return NodeCount{*low, *low, {}};
  auto high = count_with_suffix(text.substr(dash + 1));
  if (!high) return bad_node_count(text);
  if (*high < *low)
    return fail(Errc::kInvalidNodeCount,
                "Maximum node count " + std::to_string(*high) + " is less than minimum node count " + std::to_string(*low));
  return NodeCount{*low, *high, {}};
}

std::optional<uint8_t> parse_signal(std::string_view text) {
  if (auto n = parse_number<uint8_t>(text, 1, 64)) return n;
  if (istarts_with(text, "SIG")) text.remove_prefix(3);
  for (const auto& s : kSignals)
    if (iequals(s.name, text)) return s.number;
  return std::nullopt;
}

std::string signal_name(uint8_t signal) {
  for (const auto& s : kSignals)
    if (s.number == signal) return s.name;
  return std::to_string(signal);
}

Result<WarnSignal> parse_warn_signal(std::string_view text, bool allow_batch) {
  WarnSignal out;
  std::string_view rest = text;
  if (size_t colon = rest.find(':'); colon != rest.npos) {
    for (char c : rest.substr(0, colon)) {
      if (c == 'R' || c == 'r') out.reservation = true;
      else if (allow_batch && (c == 'B' || c == 'b')) out.batch_shell_only = true;
      else return fail("a prefix other than " + str(allow_batch ? "R: or B:" : "R:"));
    }
    rest = rest.substr(colon + 1);
  }
  if (size_t at = rest.find('@'); at != rest.npos) {
    auto seconds = parse_number<uint32_t>(rest.substr(at + 1), 0, 65535);
    if (!seconds) return fail("the time after @ must be 0 to 65535 seconds");
    out.seconds_before_end = *seconds;
    rest = rest.substr(0, at);
  }
  auto signal = parse_signal(rest);
  if (!signal) return fail("\"" + str(rest) + "\" is neither a signal's name nor its number");
  out.signal = *signal;
  return out;
}

Result<std::string> parse_distribution(std::string_view text, uint32_t plane_size) {
  auto bad = [] { return fail(Errc::kInvalidReq, "Invalid --distribution specification"); };
  std::string_view pack;
  if (size_t comma = text.find(','); comma != text.npos) {
    pack = text.substr(comma + 1);
    text = text.substr(0, comma);
    if (!iequals(pack, "pack") && !iequals(pack, "nopack")) return bad();
  }
  auto parts = split(text, ':', true);
  if (parts.empty() || parts.size() > 3) return bad();
  std::string out = to_lower(parts[0]);
  if (out.starts_with("plane")) {
    uint32_t size = plane_size;
    if (out.size() > 5) size = out[5] == '=' ? parse_number<uint32_t>(std::string_view(out).substr(6)).value_or(0) : 0;
    if (size == 0 || parts.size() > 1)
      return fail(Errc::kInvalidReq, "Invalid plane size or size not specified\nInvalid --distribution specification");
    out = "plane=" + std::to_string(size);
  } else if (out != "block" && out != "cyclic" && out != "arbitrary" && out != "*") {
    return bad();
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string level = to_lower(parts[i]);
    if (level != "block" && level != "cyclic" && level != "fcyclic" && level != "*") return bad();
    out += ":" + level;
  }
  if (!pack.empty()) out += "," + to_lower(pack);
  return out;
}

std::optional<bool> parse_yes_no(std::string_view text) {
  if (iequals(text, "yes") || iequals(text, "y") || text == "1" || iequals(text, "true")) return true;
  if (iequals(text, "no") || iequals(text, "n") || text == "0" || iequals(text, "false")) return false;
  return std::nullopt;
}

}  // namespace muster
