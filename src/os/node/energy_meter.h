// Energy of processors as the kernel counts it (powercap, Intel's and AMD's RAPL), and the sum of counters that wrap around or start again.
// slurm.conf(5) AcctGatherEnergyType=acct_gather_energy/rapl. Reading needs root. Cost: a small file for each counter.
//
// Each package and each bank of memory beside it is counted; "psys", which holds them all again, is not. A counter that wraps more than
// once between two looks has lost a turn: with 262 kJ, mostly the range, and 800 W in five minutes (AcctGatherNodeFreq below 300).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::os {

inline constexpr char kPowercap[] = "/sys/class/powercap";

// What counters have gone up by since each was first seen.
class CounterSum {
 public:
  // `range`: the counter starts from 0 again after this value; 0: only when its driver does.
  void see(const std::string& counter, uint64_t now, uint64_t range);
  uint64_t sum() const { return sum_; }

 private:
  std::map<std::string, uint64_t> last_;
  uint64_t sum_ = 0;
};

class Rapl {
 public:
  // kNotFound: the kernel counts nothing below this folder, or does not let us read it.
  static Result<Rapl> open(const std::string& powercap);
  // Microjoules since `open`. A counter that cannot be read any more stands still.
  uint64_t read();

 private:
  struct Zone {
    std::string file;
    uint64_t range = 0;
  };
  std::vector<Zone> zones_;
  CounterSum sum_;
};

// Watts between samples of the joules that a node has taken.
class PowerMeter {
 public:
  void sample(Duration now, uint64_t joules);
  uint32_t watts_now() const { return now_; }
  uint32_t watts_average() const { return average_; }
  uint64_t joules() const { return last_ - first_; }
  uint64_t joules_before() const { return before_ - first_; }
  bool any() const { return samples_ > 0; }
  bool measured() const { return samples_ > 1; }

 private:
  uint64_t first_ = 0, before_ = 0, last_ = 0;
  Duration first_at_{}, last_at_{};
  uint32_t now_ = 0, average_ = 0;
  size_t samples_ = 0;
};

}  // namespace muster::os
