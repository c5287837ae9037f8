// What a node takes of energy, as its slurmd measures it every AcctGatherNodeFreq. slurm.conf(5), scontrol(1) CurrentWatts, AveWatts.
#pragma once

#include <cstdint>

#include "base/describe.h"
#include "base/time.h"

namespace muster {

struct NodeEnergy {
  bool supported = false;                     // false: the node has none of the counters that AcctGatherEnergyType means
  uint32_t watts_now = 0, watts_average = 0;  // between the last two samples; since the first
  uint64_t joules = 0, joules_before = 0;     // since the first, at the last sample and at the one before
  Time sampled{};
  bool operator==(const NodeEnergy&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "supported", self.supported);
    field(2, "watts_now", self.watts_now);
    field(3, "watts_average", self.watts_average);
    field(4, "joules", self.joules);
    field(5, "joules_before", self.joules_before);
    field(6, "sampled", self.sampled);
  }
};

}  // namespace muster
