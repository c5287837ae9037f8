// IMEX channels that jobs hold (SwitchType=switch/nvidia_imex, ADR 25). A job keeps those it was given until nothing of it is left on any
// of its nodes, also on those that it gave up before: only then may another job have the same number.
#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"

namespace muster {

std::vector<uint32_t> channels_of(const Allocation& allocation);  // ascending, each once
std::vector<uint32_t> channels_held(const Job& job);              // likewise

}  // namespace muster
