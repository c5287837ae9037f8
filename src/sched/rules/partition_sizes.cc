// MinNodes, MaxNodes and MaxTime of a partition. A job that is beyond them, because EnforcePartLimits=NO let it in or because they were
// changed since, waits until they admit it. A job that has started keeps what it has. A QOS may set them aside (sched/qos_flags.h).
// slurm.conf(5); guide qos.
#include "sched/qos_flags.h"
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

bool beyond_nodes(const Shape& s, uint32_t min, uint32_t max) { return s.min_nodes > max || s.max_nodes < min; }

// Only a job that is beyond what the partition says is asked about its QOS.
Hold too_many_or_few(const JobQuestion& q, const Held&, Grant&) {
  const Shape& s = q.asked.shape;
  if (!beyond_nodes(s, q.partition.min_nodes, q.partition.max_nodes)) return {};
  const PartitionBounds b = bounds_for(q.cluster, q.partition, q.request.qos);
  if (beyond_nodes(s, b.min_nodes, b.max_nodes)) return {Reason::kPartitionNodeLimit};
  return {};
}

Hold too_long(const JobQuestion& q, const Held&, Grant&) {
  const uint32_t asked = q.asked.time_limit_min;
  if (asked <= q.partition.max_time_min || asked <= bounds_for(q.cluster, q.partition, q.request.qos).max_time_min) return {};
  return {Reason::kPartitionTimeLimit};
}

}  // namespace

constinit const JobRule kPartitionNodes{
    .name = "MinNodes, MaxNodes",
    .concerns = [](const RequestClass& c, const Partition& p,
                   const Params&) { return !c.never && beyond_nodes(c.shape, p.min_nodes, p.max_nodes); },
    .holds = too_many_or_few};

constinit const JobRule kPartitionTime{
    .name = "MaxTime",
    .concerns = [](const RequestClass& c, const Partition& p, const Params&) { return c.time_limit_min > p.max_time_min; },
    .holds = too_long};

}  // namespace muster::sched
