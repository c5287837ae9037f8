// The text of --cpu-freq and CpuFreqDef. srun(1) --cpu-freq.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// A wish such as "1800000", "low-highm1", "medium:userspace" or "performance": frequencies in kHz or by name, and a governor, in any
// letter case.
struct CpuFrequencyWish {
  std::string low, high;  // "": none; high only with a range
  std::string governor;   // lower case; "": as it is

  // Errors: kInvalidArgument.
  static Result<CpuFrequencyWish> parse(std::string_view text);
  bool operator==(const CpuFrequencyWish&) const = default;
};
std::string cpu_frequency_text(const CpuFrequencyWish& wish);

}  // namespace muster
