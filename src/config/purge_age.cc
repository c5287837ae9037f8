#include "config/purge_age.h"

#include "base/text.h"

namespace muster::config {
namespace {

std::optional<PurgeUnit> unit_of(std::string_view word) {
  if (word.empty()) return PurgeUnit::kMonth;
  constexpr std::pair<std::string_view, PurgeUnit> kUnits[] = {
      {"hour", PurgeUnit::kHour}, {"day", PurgeUnit::kDay}, {"month", PurgeUnit::kMonth}};
  for (const auto& [name, unit] : kUnits)
    if (iequals(word, name) || iequals(word, std::string(name) + "s")) return unit;
  return std::nullopt;
}

}  // namespace

std::optional<PurgeAge> parse_purge_age(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  const std::optional<uint32_t> count = parse_number<uint32_t>(digits, 1, kLongestPurgeAge);
  const std::optional<PurgeUnit> unit = unit_of(text.substr(digits.size()));
  if (!count || !unit) return std::nullopt;
  return PurgeAge{*count, *unit};
}

}  // namespace muster::config
