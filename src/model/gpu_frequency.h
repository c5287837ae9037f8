// The text of --gpu-freq and GpuFreqDef. srun(1) --gpu-freq, slurm.conf(5) GpuFreqDef.
#pragma once

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

}  // namespace muster
