// --gres-flags=enforce-binding on one node: a job has CPUs at its devices only. sbatch(1).
//
//   concerns   whether it matters for the request on this kind of node
//   sets       which sockets may serve it: as few as would on an idle node, so that a job whose devices one socket has waits for
//              them rather than using two sockets
//   least      sockets, and so cores, that so many GPUs need at least
//
// Devices and CPUs come evenly from the sockets of a set, a core at least from each that gives a device.
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

// Sockets where a share has devices with cores of their own; those cores in `cores`.
std::vector<uint32_t> giving_sockets(const Kind& kind, const std::vector<GresShare>& share, Bitmap& cores);

}  // namespace muster::sched
