#include "sched/qos_flags.h"

#include "model/account_directory.h"

namespace muster::sched {

const QosRecord* qos_of(const Cluster& cluster, std::string_view qos) {
  return cluster.directory ? cluster.directory->qos.find(qos) : nullptr;
}

PlaceByQos place_by_qos(const Cluster& cluster, std::string_view qos) {
  const QosRecord* q = qos_of(cluster, qos);
  return q ? PlaceByQos{!has_flag(*q, "NoReserve"), find_limit(q->limits, LimitKind::kMinPriority)} : PlaceByQos();
}

PartitionBounds bounds_for(const Cluster& cluster, const Partition& p, std::string_view qos) {
  PartitionBounds out{p.min_nodes, p.max_nodes, p.max_time_min};
  const QosRecord* q = qos_of(cluster, qos);
  if (!q || q->flags.empty()) return out;
  if (has_flag(*q, "PartitionMinNodes")) out.min_nodes = 0;
  if (has_flag(*q, "PartitionMaxNodes")) out.max_nodes = kUnlimited32;
  if (has_flag(*q, "PartitionTimeLimit")) out.max_time_min = kUnlimited32;
  return out;
}

}  // namespace muster::sched
