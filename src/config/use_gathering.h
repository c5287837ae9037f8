// UseGathering: what is gathered of GPUs and energy. slurm.conf(5) AccountingStorageTRES gres/gpuutil and gres/gpumem, JobAcctGatherParams
// DisableGPUAcct, AcctGatherEnergyType, AcctGatherNodeFreq.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::config {

struct Config;
struct Findings;

enum class EnergySource : uint8_t { kNone, kRapl, kGpu };

struct UseGathering {
  bool gpu_util = false, gpu_memory = false;  // of the GPUs that NVIDIA's library knows
  EnergySource energy = EnergySource::kNone;
  uint32_t node_seconds = 0;  // between two samples of a node's power; 0: none are taken
  bool gpus() const { return gpu_util || gpu_memory; }
  bool operator==(const UseGathering&) const = default;
};

// kNone also where the key asks for what is not there, which the notices of the configuration say.
UseGathering use_gathering(const Config& config);
EnergySource energy_source(std::string_view type);

// Tells of sources of energy that are not there.
void check_use_gathering(const Config& config, Findings& findings);

}  // namespace muster::config
