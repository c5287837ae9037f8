// ReservationNames: the reservations that a job may run in, --reservation=a,b, in their order. sbatch(1) --reservation. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

struct ReservationNames {
  static constexpr size_t kMost = 64;  // those after it do not count

  std::vector<std::string> names;  // as written, each once

  static Result<ReservationNames> parse(std::string_view text);
};

}  // namespace muster
