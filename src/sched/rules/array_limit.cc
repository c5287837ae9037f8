#include "sched/rules/array_limit.h"

#include <string>

namespace muster::sched {

ArrayLimit ArrayLimit::of(const Cluster& cluster, const Job& job) {
  ArrayLimit out;
  if (!job.array_tasks && !job.array_job_id) return out;
  out.array = job.array_job_id ? job.array_job_id.value : job.id.value;
  const ArrayGroup* group = cluster.arrays.find(out.array);
  if (group) out.running = group->running;
  if (job.array_tasks) {
    if (job.array_tasks->max_running) out.most = job.array_tasks->max_running;
  } else if (group && group->max_running) {  // a task that was requeued
    out.most = group->max_running;
  }
  return out;
}

std::optional<LimitView> ArrayLimit::view() const {
  if (most == kUnlimited32 || running < most) return std::nullopt;
  return LimitView{"tasks of the array at once (--array=…%" + std::to_string(most) + ")", most, running, 1, {}};
}

}  // namespace muster::sched
