// The age at which slurmdbd purges records: a number with hours, days or months, as the Purge…After keys of slurmdbd.conf(5) take it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::config {

enum class PurgeUnit : uint8_t { kHour, kDay, kMonth };

struct PurgeAge {
  uint32_t count = 0;  // from 1 to kLongestPurgeAge
  PurgeUnit unit = PurgeUnit::kMonth;
  bool operator==(const PurgeAge&) const = default;
};
inline constexpr uint32_t kLongestPurgeAge = 65'535;

// "12months", "60days", "24hours"; letters in any case, with or without the s at the end; a number alone means months.
std::optional<PurgeAge> parse_purge_age(std::string_view text);

}  // namespace muster::config
