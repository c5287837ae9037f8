// --gres-flags=enforce-binding on one node: a job has CPUs only at its devices. sbatch(1).
//
//   concerns   whether the flag matters for the request on this kind of node
//   sets       the sets of sockets that may serve it, each as small as on an idle node: a job whose devices one socket has waits for
//              them rather than using two sockets
//   least      the sockets that so many GPUs need at least, and with them the cores
//
// Devices and CPUs come evenly from the sockets of a set, with at least one core from each socket that gives a device.
// Cost: O(sockets · devices).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sched/fit/gres_choice.h"

namespace muster::sched {

class BoundSockets {
 public:
  BoundSockets(const Kind& kind, const std::vector<GresNeed>& needs) : k_(kind), needs_(needs) {}

  static bool concerns(const Shape& shape, const Kind& kind, const std::vector<GresNeed>& needs);
  static uint32_t least(const Kind& kind, uint64_t gpus);

  using FreeCores = std::function<uint32_t(uint32_t socket)>;
  std::vector<std::vector<uint32_t>> sets(const NodeUse& use, const FreeCores& free_cores) const;

 private:
  std::vector<uint64_t> near(const NodeUse& use) const;  // by socket
  uint64_t wanted() const;

  const Kind& k_;
  const std::vector<GresNeed>& needs_;
};

// The sockets at which a share has devices with cores of their own; sets those cores in `cores`.
std::vector<uint32_t> giving_sockets(const Kind& kind, const std::vector<GresShare>& share, Bitmap& cores);

}  // namespace muster::sched
