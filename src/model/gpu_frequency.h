// The texts of --gpu-freq and GpuFreqDef, and what requests carry of them. srun(1) --gpu-freq, slurm.conf(5) GpuFreqDef.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// "medium,memory=high,verbose": clocks in MHz or by name, in lower case; "" = as it is.
struct GpuFrequencyWish {
  std::string gpu, memory;
  bool verbose = false;

  // Errors: kInvalidArgument, naming the part.
  static Result<GpuFrequencyWish> parse(std::string_view text);
  bool operator==(const GpuFrequencyWish&) const = default;
};

// A request's frequencies of devices: "gpu:medium,memory=high". Only GPUs have any, so "gpu:" may be left out.
struct TresFrequency {
  GpuFrequencyWish gpu;

  // `text` without what says that it is about GPUs.
  static std::string_view of_gpu(std::string_view text);
  static Result<TresFrequency> parse(std::string_view text);  // errors as above
};

}  // namespace muster
