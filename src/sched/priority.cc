// priority_of: PriorityType=priority/basic and the factors of priority/multifactor that need no accounting.
// Guide priority_multifactor.
#include <algorithm>
#include <cmath>

#include "sched/planner.h"

namespace muster::sched {
namespace {

double size_factor(const Cluster& cluster, const PriorityParams& p, const Job& job) {
  const double nodes = std::max<double>(1.0, static_cast<double>(cluster.nodes.size()));
  const double wants = std::clamp(static_cast<double>(std::max(job.request->min_nodes, 1u)), 1.0, nodes);
  return p.favor_small ? (nodes - wants) / nodes : wants / nodes;
}

}  // namespace

uint32_t priority_of(const Cluster& cluster, const PriorityParams& p, const Job& job, Time now) {
  if (job.priority == 0) return 0;  // held
  if (!job.request) return job.priority;
  if (job.request->priority) return std::min(*job.request->priority, kUnlimited32 - 1);  // fixed by hand
  if (!p.multifactor) return job.priority;
  const Time since = job.eligible == Time{} ? job.submitted : job.eligible;
  double age = 0;
  if (now > since && p.max_age.count() > 0)
    age = std::min(1.0, static_cast<double>((now - since).count()) / static_cast<double>(p.max_age.count()));
  uint32_t most = 1;
  cluster.partitions.for_each(
      [&](uint32_t, const Partition& q) { most = std::max(most, q.priority_job_factor); });
  const Partition* part = cluster.partitions.find(job.partition);
  const double partition = part ? static_cast<double>(part->priority_job_factor) / most : 0;
  double sum =
      p.weight_age * age + p.weight_job_size * size_factor(cluster, p, job) + p.weight_partition * partition;
  sum -= job.request->nice;
  // 0 would mean held.
  return static_cast<uint32_t>(std::clamp(std::floor(sum), 1.0, static_cast<double>(kUnlimited32 - 2)));
}

}  // namespace muster::sched
