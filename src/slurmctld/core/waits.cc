#include "slurmctld/core/waits.h"

#include <algorithm>

#include "slurmctld/core/records.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

// The worst exit status of all tasks that have records.
int32_t exit_status_of_array(const Cluster& cluster, JobId id) {
  int32_t worst = 0;
  cluster.jobs.for_each(
      [&](uint32_t, const Job& j) {
        if (j.array_job_id == id) worst = std::max(worst, j.exit_status);
      },
      id.value);
  return worst;
}

}  // namespace

std::optional<Result<rpc::JobResult>> JobWait::look(const Cluster& cluster, const Job* job) {
  if (!std::exchange(known_, true) && job && !privacy_.shows(*job)) return fail(Errc::kInvalidJobId);
  rpc::JobResult result;
  if (request_.ready && job && !job->pending() && !job->finished() && !(job->flags & kJobConfiguring)) {
    result.state = job->state;
    return result;
  }
  if (const ArrayGroup* g = cluster.arrays.find(request_.job.value); g && !(request_.ready && job && job->finished())) {
    if (g->ended_ok + g->ended_bad < g->total) return std::nullopt;
    result.state = g->ended_bad ? JobState::kFailed : JobState::kCompleted;
    result.exit_status = exit_status_of_array(cluster, request_.job);
    return result;
  }
  if (!job) return fail(Errc::kInvalidJobId);
  if (!job->finished() || (job->flags & (kJobRequeued | kJobRequeueHold))) return std::nullopt;
  result.state = job->state;
  result.exit_status = job->exit_status;
  return result;
}

std::optional<Result<rpc::Empty>> StepsWait::look(const Cluster&, const Job* job) {
  const bool first = !std::exchange(known_, true);
  if (first && !job) return fail(Errc::kInvalidJobId);
  if (!job) return rpc::Empty{};
  if (!privacy_.shows(*job)) return fail(Errc::kInvalidJobId);
  if (!rights_.may(row_of<rpc::WaitSteps>.of_job, *job)) return fail(Errc::kAccessDenied);
  if (first && job->finished()) return fail(Errc::kAlreadyDone);
  if (first && job->pending()) return fail(Errc::kJobPending);
  if (std::ranges::any_of(job->steps, [](const Step& s) { return s.id.value < kInteractiveStep.value; })) return std::nullopt;
  return rpc::Empty{};
}

std::optional<Result<rpc::Allocated>> AllocationWait::look(const Cluster& cluster, const Job* job, std::optional<std::string>& nodes) {
  if (job && job->pending()) return std::nullopt;
  if (job && !job->finished() && (job->flags & kJobConfiguring)) {
    if (!std::exchange(told_, true)) nodes = node_list_of(cluster, *job->allocation);
    return std::nullopt;
  }
  if (job && !job->finished()) return make_allocated(cluster, *job);
  // --immediate cancelled the job, and no user did.
  const bool too_late =
      job && job->request->immediate_seconds && job->state == JobState::kCancelled && !job->allocation && !job->cancel_asked;
  if (too_late) return fail(Errc::kNodesBusy);
  return fail(Errc::kAllocationRevoked, "Job allocation " + std::to_string(job ? job->id.value : 0) + " has been revoked");
}

uint64_t records_awaited(const Cluster& cluster, const Indexes& indexes, const Privacy& privacy, const std::vector<JobId>& jobs) {
  const uint64_t newest = indexes.unrecorded().empty() ? 0 : indexes.unrecorded().rbegin()->position;
  if (jobs.empty()) return newest;
  uint64_t position = 0;
  for (JobId id : jobs) {
    const Job* job = cluster.jobs.find(id.value);
    if (!job || !privacy.shows(*job)) return newest;
    position = std::max(position, newest_record_of(cluster, indexes, id));
  }
  return position;
}

}  // namespace muster::slurmctld
