// Chooses a clock of a CPU or a GPU. srun(1) --cpu-freq, --gpu-freq.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

// `wanted` is a number or low, medium, high, highm1; the answer is the nearest of `clocks`, which may be in any order and unit. 0:
// `clocks` is empty.
uint32_t choose_clock(std::string_view wanted, std::span<const uint32_t> clocks);

}  // namespace muster
