// Levels of the daemons' logs: names and numbers of SlurmctldDebug, SlurmdDebug, scontrol setdebug. slurm.conf(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::os {

enum class LogLevel : uint8_t { kQuiet, kFatal, kError, kInfo, kVerbose, kDebug, kDebug2, kDebug3, kDebug4, kDebug5 };

inline constexpr std::string_view kLogLevelNames[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                                      "debug", "debug2", "debug3", "debug4", "debug5"};

constexpr std::string_view log_level_name(LogLevel level) { return kLogLevelNames[static_cast<size_t>(level)]; }

// A name in any case, or its number 0 … 9.
constexpr std::optional<LogLevel> parse_log_level(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return static_cast<LogLevel>(text[0] - '0');
  for (size_t i = 0; i < std::size(kLogLevelNames); ++i) {
    const std::string_view name = kLogLevelNames[i];
    bool same = name.size() == text.size();
    for (size_t k = 0; same && k < name.size(); ++k) {
      const char c = text[k];
      same = (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) == name[k];
    }
    if (same) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}
// The level -v (more) and -q (less) lead to, kept within the table.
constexpr LogLevel shifted(LogLevel from, int by) {
  int n = static_cast<int>(from) + by;
  n = n < 0 ? 0 : n > 9 ? 9 : n;
  return static_cast<LogLevel>(n);
}

}  // namespace muster::os
