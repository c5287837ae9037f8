// QOS flags that set limits of a partition aside for the jobs of a QOS: PartitionMinNodes, PartitionMaxNodes, PartitionTimeLimit; and
// NoReserve, MinPrioThreshold, which say for which jobs backfill keeps places. Guide qos; sacctmgr(1). Cost: O(log QOS + flags).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/accounts.h"
#include "model/cluster.h"

namespace muster::sched {

// Null: no accounts are known, or no such QOS.
const QosRecord* qos_of(const Cluster& cluster, std::string_view qos);
// Whether backfill keeps places for jobs of the QOS (NoReserve), and from which priority on; nullopt: what holds for all
// (bf_min_prio_reserve).
struct PlaceByQos {
  bool may = true;
  std::optional<uint64_t> least_priority;
};
PlaceByQos place_by_qos(const Cluster& cluster, std::string_view qos);

// The limits of a partition for a job of a QOS.
struct PartitionBounds {
  uint32_t min_nodes = 0, max_nodes = kUnlimited32, max_time_min = kUnlimited32;
};
PartitionBounds bounds_for(const Cluster& cluster, const Partition& partition, std::string_view qos);

}  // namespace muster::sched
