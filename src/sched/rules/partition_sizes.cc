// MinNodes, MaxNodes and MaxTime of a partition. A job that is beyond them, because EnforcePartLimits=NO let it in or because they were
// changed since, waits until they admit it. A job that has started keeps what it has. slurm.conf(5).
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Hold too_many_or_few(const JobQuestion& q, const Held&, Grant&) {
  const Shape& s = q.asked.shape;
  if (s.min_nodes > q.partition.max_nodes || s.max_nodes < q.partition.min_nodes) return {Reason::kPartitionNodeLimit};
  return {};
}

Hold too_long(const JobQuestion& q, const Held&, Grant&) {
  if (q.asked.time_limit_min > q.partition.max_time_min) return {Reason::kPartitionTimeLimit};
  return {};
}

}  // namespace

constinit const JobRule kPartitionNodes{.name = "MinNodes, MaxNodes",
                                        .same_for_class = true,
                                        .concerns = [](const RequestClass& c, const Partition&, const Params&) { return !c.never; },
                                        .holds = too_many_or_few};

constinit const JobRule kPartitionTime{
    .name = "MaxTime",
    .same_for_class = true,
    .concerns = [](const RequestClass&, const Partition& p, const Params&) { return p.max_time_min != kUnlimited32; },
    .holds = too_long};

}  // namespace muster::sched
