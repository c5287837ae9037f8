// The text of --mem-update: after so much of the job's time its memory limit becomes what it uses then, and a margin. sbatch(1)
// --mem-update.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/parsed.h"
#include "base/result.h"
#include "base/time.h"
#include "model/step_usage.h"

namespace muster {

// "20@10" (a margin of 20 percent, after ten minutes), "5@0:30", "50@1-12". A job that does not ask for it has an empty text.
struct MemUpdate {
  uint32_t margin_percent = 0;
  Duration delay{};  // since the job's script or allocation began

  static constexpr uint32_t kMostMargin = 100000;  // percent

  // Errors: kInvalidArgument, with the rule that the text breaks.
  static Result<MemUpdate> parse(std::string_view text);
  bool operator==(const MemUpdate&) const = default;
};
using MemUpdateText = Parsed<MemUpdate>;

// The new limit of each of a job's nodes in MiB, rounded up: `used` (of the node that uses most) and the margin, but a tenth of
// `allocated_mb` (of the node that has most) at least, and no more than that.
uint64_t reduced_memory_mb(const MemUpdate& asked, Bytes used, uint64_t allocated_mb);

}  // namespace muster
