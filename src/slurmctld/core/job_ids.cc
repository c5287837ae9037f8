#include "slurmctld/core/job_ids.h"

#include <algorithm>

namespace muster::slurmctld {

JobIds::JobIds(const Cluster& cluster, const config::Config& config)
    : cluster_(cluster), first_(std::max(1u, config.first_job_id)), most_(config.max_job_id), last_(cluster.last_job_id.value) {}

Result<JobId> JobIds::next() {
  // No more ids can be in use than there are jobs and arrays.
  const size_t most_tries = cluster_.jobs.size() + cluster_.arrays.size() + 1;
  for (size_t tries = 0; tries <= most_tries; ++tries) {
    last_ = last_ >= most_ ? first_ : std::max(first_, last_ + 1);
    if (!cluster_.jobs.contains(last_) && !cluster_.arrays.contains(last_)) return JobId(last_);
  }
  return fail(Errc::kTryAgainLater, {}, "every job id up to MaxJobId is in use");
}

Result<JobId> JobIds::next_in_a_row(uint32_t count) {
  uint32_t first = 0, have = 0;
  constexpr uint32_t kMostTries = 1'000'000;  // rows are broken by ids in use, and where ids begin anew
  for (uint32_t tries = 0; tries < kMostTries && have < count; ++tries) {
    MUSTER_TRY(id, next());
    const bool goes_on = have > 0 && id.value == first + have;
    if (!goes_on) {
      first = id.value;
      have = 0;
    }
    ++have;
  }
  if (have < count)
    return fail(Errc::kTryAgainLater, {}, "no " + std::to_string(count) + " ids up to MaxJobId that follow one another are free");
  return JobId(first);
}

JobId JobIds::next_or_beyond() {
  if (auto id = next()) return *id;
  uint32_t beyond = most_ + 1;
  while (cluster_.jobs.contains(beyond) || cluster_.arrays.contains(beyond)) ++beyond;
  return JobId(most_ = last_ = beyond);
}

JobId expected_job_id(const Cluster& cluster, const config::Config& config) { return JobIds(cluster, config).next().value_or(JobId{}); }

}  // namespace muster::slurmctld
