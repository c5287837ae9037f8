// How fast a core runs at this moment, as the kernel says: cpufreq where there is a driver, else what /proc/cpuinfo says of the first core
// (virtual machines). sacct(1) and sstat(1) AveCPUFreq. Cost: one small file, about 10 µs.
#pragma once

#include <cstdint>
#include <string>

namespace muster::os {

// kHz of a core, by the kernel's number; 0: the machine does not say. `root` stands before /sys and /proc (tests).
uint64_t cpu_clock(uint32_t core, const std::string& root = {});
// The same of all cores on average, of the first kMostCoresAsked at most.
inline constexpr uint32_t kMostCoresAsked = 64;
uint64_t mean_cpu_clock(uint32_t cores, const std::string& root = {});

}  // namespace muster::os
