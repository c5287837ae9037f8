#include "slurmctld/core/run_parts.h"

#include <algorithm>

namespace muster::slurmctld {

bool begins_part(const Job& job, Time at) {
  const std::vector<Resize>& resizes = job.run->resizes;
  return at > (resizes.empty() ? job.started : resizes.back().at);
}

JobRecordKey key_of(const Job& job, Time moment) {
  const std::vector<Resize>& resizes = job.run->resizes;
  const auto next = std::ranges::lower_bound(resizes, moment, {}, &Resize::at);
  return {job.id, next == resizes.begin() ? job.submitted : std::prev(next)->at, job.restarts};
}

Duration suspended_by(const Job& job, Time moment) {
  const JobRun& run = *job.run;
  if (job.state != JobState::kSuspended) return run.suspended_total;
  return run.suspended_total + std::max(moment - run.suspended, Duration::zero());
}

Duration suspended_since(const Job& job, Duration before, Time moment) {
  return std::max(suspended_by(job, moment) - before, Duration::zero());
}

}  // namespace muster::slurmctld
