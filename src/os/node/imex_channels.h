// Device files of IMEX channels, /dev/nvidia-caps-imex-channels/channelN: who may open one can share the memory of GPUs of other nodes with
// all who may open the same number there. The driver makes none of them by itself. SwitchType=switch/nvidia_imex; ADR 25.
//
// All of it needs root with CAP_MKNOD. The directory is root's, so no name in it is a user's. Errors name the path. Cost: some system calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace muster::os {

class ImexDevices {
 public:
  // `root`: put before /proc and /dev, for tests; else "".
  explicit ImexDevices(std::string root = {}) : root_(std::move(root)) {}

  // The number that the driver's device files have (/proc/devices); nullopt: the driver is not here.
  Result<std::optional<uint32_t>> driver_number() const;
  std::string file(uint32_t channel) const;
  // Makes the channel's file, which its user alone may open; one that is there already becomes so.
  Result<> open_for(uint32_t major, uint32_t channel, Uid uid) const;
  Result<> remove(uint32_t channel) const;  // absent is fine

 private:
  std::string folder() const { return root_ + "/dev/nvidia-caps-imex-channels"; }
  std::string root_;
};

}  // namespace muster::os
