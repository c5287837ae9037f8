// Which of its clocks a CPU or a GPU is to have. srun(1) --cpu-freq, --gpu-freq.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

// Of the clocks that there are, in any order and unit, the one meant by a number or low, medium, high, highm1: the nearest;
// 0: there are none.
uint32_t choose_clock(std::string_view wanted, std::span<const uint32_t> clocks);

}  // namespace muster
