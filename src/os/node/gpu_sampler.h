// GpuSampler: asks NVIDIA's library for the processes on the node's cards and for the power of these. Runs in a process of its own
// (`slurmd gpu-watch`), since a call may hang for as long as the driver likes.
//
// What the library says is checked: more processes than fit are left out and told, shares above 100 percent count as 100, memory beyond
// that of the card counts as not known. Cards that are cut into MIG instances tell of no process, as in Slurm. Cost of a sample: 1-20 ms a
// card on real drivers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/node/gpu_samples.h"
#include "os/node/nvml_library.h"

namespace muster::os {

class GpuSampler {
 public:
  static Result<GpuSampler> open(const std::string& library);
  // `now`: of boot_clock.
  GpuSamples sample(Duration now);

 private:
  struct Card {
    nvmlDevice_t handle{};
    uint32_t minor = 0;
    std::string name;                         // "GPU 3", for faults
    unsigned long long utilization_seen = 0;  // the time of the newest sample, as the driver counts
    uint64_t memory_bytes = 0;                // 0: not known
    bool mig = false;
    uint64_t millijoules = 0;  // counted here where the card does not
    uint64_t milliwatts = 0;   // at the sample before
    Duration counted{};
  };
  using Processes = std::map<int32_t, GpuSamples::Process>;
  explicit GpuSampler(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
  void find_cards();
  void ask_memory(Card& card, Processes& to);
  void ask_utilization(Card& card, Processes& to);
  void ask_power(Card& card, Duration now, GpuSamples& to);
  void fault(const Card& card, const std::string& text);

  std::unique_ptr<Nvml> nvml_;
  std::vector<Card> cards_;
  std::vector<std::string> faults_;  // of all samples, each once
};

// Samples into `file` every `every` until standard input ends. The exit status.
int watch_gpus(const std::string& library, const std::string& file, Duration every);
// The same for `PROGRAM gpu-watch LIBRARY FILE MILLISECONDS`.
int gpu_watch_main(int argc, char** argv);

}  // namespace muster::os
