// GpuSamples: what the processes of this node use of its GPUs and what the cards take, as the process that slurmd has look at them
// (gpu_sampler.h) leaves it in a file for slurmd and each slurmstepd. NVIDIA's library is asked in that process alone: a driver that hangs
// keeps nobody but it, and slurmstepd, which is linked statically, loads nothing.
//
// Reading is bounded and believes nothing: a file that is not ours to believe (another owner, not of a moment ago, too long, not in this
// form) is an error. Cost: a file of a line for each process and card.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster::os {

struct GpuSamples {
  static constexpr size_t kMostCards = 64, kMostProcesses = 4096;
  static constexpr uint64_t kMostUtil = kMostCards * 100;
  struct Process {
    int32_t pid = 0;
    uint64_t util = 0;    // percent, over all cards together, since the sample before
    uint64_t memory = 0;  // bytes, on all cards together
    bool operator==(const Process&) const = default;
  };
  struct Card {
    uint32_t minor = 0;
    uint64_t milliwatts = 0, millijoules = 0;  // now; counted up from whenever
    bool operator==(const Card&) const = default;
  };
  Duration taken{};                 // since the machine's start (CLOCK_BOOTTIME)
  Duration every{};                 // between two samples
  std::vector<Process> processes;   // each once
  std::vector<Card> cards;          // those that tell what they take
  std::vector<std::string> faults;  // in words, one line each: for the log
  bool operator==(const GpuSamples&) const = default;

  std::string text() const;
  // kInvalidArgument: it is no such text.
  static Result<GpuSamples> parse(std::string_view text);
  // Two samples and what a slow driver takes.
  bool fresh(Duration now) const { return taken <= now && now - taken <= 2 * every + seconds(5); }
};

Duration boot_clock();
// Replaces the file. It is readable for its owner alone.
Result<> write_gpu_samples(const std::string& path, const GpuSamples& samples);
// kNotFound: there is none. kTimedOut: it is too old.
Result<GpuSamples> read_gpu_samples(const std::string& path);

}  // namespace muster::os
