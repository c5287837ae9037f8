#include "slurmctld/core/run_ends.h"

#include <algorithm>
#include <optional>

#include "model/dependency.h"
#include "slurmctld/core/records.h"
#include "slurmctld/core/run_parts.h"

namespace muster::slurmctld {
namespace {

EndedRun ended_run(const Cluster& cluster, const Job& job) {
  const RequestBody& request = *job.request;
  EndedRun out;
  out.record = make_run_record(cluster, job);
  out.submit_host = request.alloc_node;
  if (job.dependencies) out.dependency = format_dependencies(*job.dependencies);
  out.excluded_nodes = request.excluded_nodes.text();
  out.tasks_per_node = request.ntasks_per_node;
  out.cpus_per_task = request.cpus_per_task;
  out.is_batch = request.kind == JobKind::kBatch;
  return out;
}

bool is_over(const Job& job) { return job.finished() && job.ended != kTimeUnset; }

bool is_under_way(const Job& job) { return !job.finished() && job.allocation && job.started != kTimeUnset; }

// The run as it was before the turn, with what its end says: the turn itself put the job back into the queue, or forgot it.
std::optional<EndedRun> as_it_ended(const Cluster& before, JobId id, const event::JobEnding& end) {
  const Job* job = before.jobs.find(id.value);
  if (!job) return std::nullopt;
  EndedRun out = ended_run(before, *job);
  out.record.state = end.state;
  out.record.reason = end.reason;
  out.record.exit_status = end.exit_status;
  out.record.ended = end.time;
  out.record.suspended_total = suspended_by(*job, end.time);
  out.record.cancelled_by = end.by;
  return out;
}

}  // namespace

std::vector<EndedRun> runs_ended(const Cluster& before, const Cluster& after, const Events& events) {
  std::vector<EndedRun> out;
  for (const Event& event : events) {
    const auto* end = std::get_if<event::JobEnding>(&event);
    if (!end || (end->array_task != kNoArrayTask && !end->task_job)) continue;
    const JobId id = end->task_job ? end->task_job : end->job;
    const Job* job = after.jobs.find(id.value);
    const Job* old = before.jobs.find(id.value);
    if (job && is_over(*job) && (!old || old->restarts == job->restarts)) out.push_back(ended_run(after, *job));
    else if (auto run = as_it_ended(before, id, *end)) out.push_back(std::move(*run));
  }
  return out;
}

std::vector<EndedRun> runs_begun(const Cluster& after, const Events& events) {
  std::vector<EndedRun> out;
  for (const Event& event : events) {
    const auto* start = std::get_if<event::JobStarted>(&event);
    if (!start) continue;
    const Job* job = after.jobs.find((start->task_job ? start->task_job : start->job).value);
    if (job && is_under_way(*job)) out.push_back(ended_run(after, *job));
  }
  return out;
}

std::vector<EndedRun> runs_under_way(const Cluster& state) {
  std::vector<EndedRun> out;
  state.jobs.for_each([&](uint32_t, const Job& job) {
    if (is_under_way(job)) out.push_back(ended_run(state, job));
  });
  return out;
}

std::vector<uint32_t> jobs_forgotten(const Events& events) {
  std::vector<uint32_t> out;
  for (const Event& event : events)
    if (const auto* purged = std::get_if<event::JobsPurged>(&event))
      for (JobId id : purged->jobs) out.push_back(id.value);
  return out;
}

std::vector<EndedRun> runs_over(const Cluster& state) {
  std::vector<EndedRun> out;
  state.jobs.for_each([&](uint32_t, const Job& job) {
    if (is_over(job)) out.push_back(ended_run(state, job));
  });
  std::ranges::stable_sort(out, {}, [](const EndedRun& run) { return run.record.ended; });
  return out;
}

std::vector<uint32_t> jobs_known(const Cluster& state) {
  std::vector<uint32_t> out;
  state.jobs.for_each([&](uint32_t id, const Job&) { out.push_back(id); });
  return out;
}

}  // namespace muster::slurmctld
