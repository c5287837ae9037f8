#include "slurmd/daemon/node_samples.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "config/use_gathering.h"
#include "os/files.h"

namespace muster::slurmd {

node_rpc::Load node_load() {
  node_rpc::Load m;
  if (auto text = os::read_line("/proc/loadavg")) {
    double one = std::strtod(text->c_str(), nullptr);
    m.cpu_load = static_cast<uint32_t>(std::lround(one * 100));
  }
  if (auto text = os::read_file("/proc/meminfo", 1 << 16)) {
    size_t at = text->find("MemFree:");
    if (at != std::string::npos) m.free_mem_mb = std::strtoull(text->c_str() + at + 8, nullptr, 10) / 1024;
  }
  return m;
}

bool wants_gpu_samples(const Setup& setup, const Stepds& stepds) {
  const config::UseGathering use = config::use_gathering(setup.config());
  const bool energy = use.energy == config::EnergySource::kGpu;
  if (energy && use.node_seconds) return true;
  bool any = false;
  if (energy || (setup.asks_nvml && use.gpus()))
    stepds.for_each_step([&](const step_rpc::StepdReport& r) {
      any |= r.state == step_rpc::StepdState::kStarting || r.state == step_rpc::StepdState::kRunning;
    });
  return any;
}

Duration gpu_sample_interval(const Setup& setup) {
  uint32_t every = std::clamp(setup.config().sample_intervals.task.value_or(30), 1u, 5u);
  if (const uint32_t node = config::use_gathering(setup.config()).node_seconds) every = std::min(every, node);
  return seconds(every);
}

}  // namespace muster::slurmd
