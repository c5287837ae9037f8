// Clocks and governors of CPUs through Linux' cpufreq files, for the time that somebody holds them. srun(1) --cpu-freq. Needs root to
// change anything. A holder that ends by SIGKILL leaves the CPUs as it had set them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"
#include "model/cpu_frequency.h"

namespace muster::os {

// What one CPU offers, in kHz; `steps` ascending, empty where the driver names none.
struct CpuFrequencyRange {
  uint32_t lowest = 0, highest = 0;
  std::vector<uint32_t> steps;
};
// A number or low, medium, high, highm1 as a frequency the CPU has: the nearest step, within its bounds. Without steps,
// medium is the middle of the range, and highm1 is high.
uint32_t choose_frequency(std::string_view wanted, const CpuFrequencyRange& range);

class CpuFrequencyHold {
 public:
  // Sets what is wished on each CPU (kernel numbers). What could not be set is told in faults() ("CPU 3: …", at most one
  // line for each kind of fault); the others are set. `root` stands before /sys (tests).
  CpuFrequencyHold(const CpuFrequencyWish& wish, const Bitmap& cpus, std::string root = {});
  CpuFrequencyHold(const CpuFrequencyHold&) = delete;
  CpuFrequencyHold& operator=(const CpuFrequencyHold&) = delete;
  ~CpuFrequencyHold();  // everything as it was
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Saved {
    std::string folder, governor, least, most;
  };
  Result<> set(const CpuFrequencyWish& wish, const Saved& before);
  std::vector<Saved> saved_;
  std::vector<std::string> faults_;
};

}  // namespace muster::os
