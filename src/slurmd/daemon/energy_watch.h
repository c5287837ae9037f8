// EnergyWatch: samples what this node takes of energy every AcctGatherNodeFreq, for slurmctld. slurm.conf(5) AcctGatherEnergyType,
// AcctGatherNodeFreq; scontrol(1) CurrentWatts. Cost: a few small files a sample.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/use_gathering.h"
#include "model/node_energy.h"
#include "net/loop.h"
#include "os/log.h"
#include "os/node/energy_meter.h"

namespace muster::slurmd {

class EnergyWatch {
 public:
  // `powercap`: where the kernel counts; `gpu_samples`: the file of GpuWatch.
  EnergyWatch(net::Loop& loop, os::Log& log, std::string powercap, std::string gpu_samples)
      : loop_(loop), log_(log), powercap_(std::move(powercap)), gpu_samples_(std::move(gpu_samples)) {}

  // `first`: power is known for the first time.
  void start(const config::UseGathering& how, std::function<void()> first);
  std::optional<NodeEnergy> last() const { return last_; }  // none: nothing is sampled, or was not yet

 private:
  void sample();
  std::optional<uint64_t> joules();

  net::Loop& loop_;
  os::Log& log_;
  const std::string powercap_, gpu_samples_;
  config::UseGathering how_;
  std::function<void()> first_;
  std::optional<os::Rapl> rapl_;
  os::CounterSum gpus_;
  os::PowerMeter meter_;
  Duration began_{};
  std::optional<NodeEnergy> last_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::slurmd
