#include "config/counted_lists.h"

#include <limits>
#include <map>
#include <optional>

#include "base/text.h"

namespace muster::config {
namespace {

std::string shown(std::string_view entry) { return "\"" + std::string(entry.substr(0, 60)) + "\""; }

// A licence's total is shown and sent as 32 bits.
std::optional<uint64_t> license_count(std::string_view text) {
  auto count = parse_count(trim(text));
  if (count && *count > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return count;
}

}  // namespace

LicenseCounts parse_license_counts(std::string_view text, std::vector<std::string>& left_out) {
  std::map<std::string, uint64_t> out;
  for (std::string_view entry : split(text, ',')) {
    entry = trim(entry);
    if (entry.empty()) continue;
    const size_t colon = entry.find(':');
    const std::string name(trim(entry.substr(0, colon)));
    const auto count = colon == entry.npos ? std::optional<uint64_t>(1) : license_count(entry.substr(colon + 1));
    if (name.empty()) left_out.push_back(shown(entry) + " names no licence");
    else if (!count) left_out.push_back("the count of " + shown(entry) + " is no number from 0 to 4294967295");
    else out[name] = *count;
  }
  return {out.begin(), out.end()};
}

std::vector<TresPriority> parse_tres_priorities(std::string_view text, std::vector<std::string>& left_out) {
  std::vector<TresPriority> out;
  for (std::string_view entry : split(text, ',')) {
    entry = trim(entry);
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    const auto weight = equals == entry.npos ? std::nullopt : parse_number<int32_t>(trim(entry.substr(equals + 1)));
    if (!weight) left_out.push_back("the weight of " + shown(entry) + " is no whole number");
    else out.push_back({TresName::of(trim(entry.substr(0, equals))), *weight});
  }
  return out;
}

}  // namespace muster::config
