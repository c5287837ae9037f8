// Clocks of NVIDIA's cards (application clocks, through NVML), set for a step and put back after it. srun(1) --gpu-freq. Needs
// root. A card cut into MIG instances has one clock for all of them and is left alone. Cost: loading the library, 0.1-2 s on
// real drivers without persistence.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/gpu_frequency.h"

namespace muster::os {

// What became of each card, in words: "/dev/nvidia3: graphics 1200 MHz, memory 2619 MHz".
struct GpuClocksSet {
  std::vector<std::string> changed;  // device files
  std::vector<std::string> told, faults;
};

// `files`: "/dev/nvidiaX"; the cards are known by X. An error: the library cannot be used.
Result<GpuClocksSet> set_gpu_clocks(const GpuFrequencyWish& wish, const std::vector<std::string>& files, const std::string& library);
// Sets the highest clocks that the cards have. Returns what failed.
Result<std::vector<std::string>> reset_gpu_clocks(const std::vector<std::string>& files, const std::string& library);

}  // namespace muster::os
