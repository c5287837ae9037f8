// "60001-60010", "60001": what SrunPortRange and MpiParams=ports= hold. slurm.conf(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace muster {

// The first and the last port; nullopt where either is not a port from 1 to 65535, or the first is above the last.
inline std::optional<std::pair<uint16_t, uint16_t>> parse_port_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_number<uint16_t>(text.substr(0, dash), 1);
  const auto last = dash == text.npos ? first : parse_number<uint16_t>(text.substr(dash + 1), 1);
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace muster
