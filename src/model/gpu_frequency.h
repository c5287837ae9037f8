// The text of --gpu-freq and GpuFreqDef. srun(1) --gpu-freq, slurm.conf(5) GpuFreqDef.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// "medium,memory=high,verbose": clocks in MHz or by name, in lower case; "" = as it is.
struct GpuFrequencyWish {
  std::string gpu, memory;
  bool verbose = false;
  bool operator==(const GpuFrequencyWish&) const = default;
};
// Errors: kInvalidArgument, naming the part.
Result<GpuFrequencyWish> parse_gpu_frequency(std::string_view text);

// Of the clocks that a device has, in any order, the one meant by a number of MHz or low, medium, high, highm1; 0: it has none.
uint32_t choose_clock(std::string_view wanted, std::span<const uint32_t> clocks);

}  // namespace muster
