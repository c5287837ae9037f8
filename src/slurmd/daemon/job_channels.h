// JobChannels: the device files of the IMEX channels of jobs on this node (SwitchType=switch/nvidia_imex, ADR 25). slurmctld says which
// channel a job has; its file is here from the job's first step on, and is gone before slurmctld is told that nothing of the job is left:
// then the number may be another's. Which job has which stands in a file of the spool, since files outlive us.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "os/log.h"
#include "os/node/imex_channels.h"
#include "slurmd/daemon/kept_rows.h"

namespace muster::slurmd {

class JobChannels {
 public:
  // `root`: see os::ImexDevices.
  JobChannels(os::Log& log, std::string path, std::string root)
      : log_(log), rows_(log, std::move(path), kLargest), devices_(std::move(root)) {}

  // Before anything else, and whenever the configuration is read again. `on`: jobs are given channels here; without the driver the node has none, which is no fault.
  void start(bool on);
  uint32_t driver() const { return driver_; }  // the number of its device files; 0: none are made here

  // Before a step of that run of the job starts. nullopt, or no driver: nothing is done. Error: the job may not start without it.
  Result<> give(JobId job, uint32_t generation, std::optional<uint32_t> channel, Uid uid);
  // Those of runs of which nothing is left here. Cost: O(jobs with a channel).
  using IsGone = std::function<bool(JobId, uint32_t generation)>;
  void take_back(const IsGone& is_gone);

 private:
  struct Held {
    uint32_t generation = 0, channel = 0;
    Uid uid{};
  };
  void read();
  Result<> write();
  bool is_held(uint32_t channel) const;

  using Rows = KeptRows<uint32_t, uint32_t, uint32_t, uint32_t>;  // job, generation, channel, uid
  static constexpr size_t kLargest = 4u << 20;                    // bytes

  os::Log& log_;
  Rows rows_;
  os::ImexDevices devices_;
  uint32_t driver_ = 0;
  std::map<JobId, Held> jobs_;
};

}  // namespace muster::slurmd
