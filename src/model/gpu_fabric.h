// GpuFabric: the part of an NVLink fabric that a node's GPUs belong to, as its driver tells (nvmlDeviceGetGpuFabricInfo). GPUs of one cluster
// and one clique reach each other's memory over NVLink, on whichever nodes they are: one rack of a GB200 NVL72, or a part of it.
//
// It is two numbers and no text, so a node can claim to be elsewhere but can send nothing that is long or not printable.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/describe.h"

namespace muster {

struct GpuFabric {
  uint64_t cluster_high = 0, cluster_low = 0;  // the UUID of the cluster, first and last half; both 0: of no fabric, or not known
  uint32_t clique = 0;
  bool known() const { return cluster_high || cluster_low; }
  std::string text() const;  // "2f9c1d3e-…-0242ac120002.32766" as NVIDIA's tools write it; "": not known
  auto operator<=>(const GpuFabric&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "cluster_high", self.cluster_high);
    field(2, "cluster_low", self.cluster_low);
    field(3, "clique", self.clique);
  }
};

}  // namespace muster
