#include "model/reservation_names.h"

#include <algorithm>

#include "base/text.h"

namespace muster {

Result<ReservationNames> ReservationNames::parse(std::string_view text) {
  ReservationNames out;
  for (std::string_view name : split(text, ',')) {
    name = trim(name);
    if (!name.empty() && std::ranges::find(out.names, name) == out.names.end() && out.names.size() < kMost) out.names.emplace_back(name);
  }
  return out;
}

}  // namespace muster
