#include "sim/run_use.h"

namespace muster::sim {

void RunUses::take(const Event& event, const Cluster& after) {
  if (const auto* started = std::get_if<event::JobStarted>(&event))
    settle(after, started->task_job ? started->task_job : started->job, started->time);
  else if (const auto* ending = std::get_if<event::JobEnding>(&event))
    settle(after, ending->task_job ? ending->task_job : ending->job, ending->time);
  else if (const auto* suspended = std::get_if<event::JobSuspended>(&event)) settle(after, suspended->job, suspended->time);
  else if (const auto* shrunk = std::get_if<event::JobShrunk>(&event)) settle(after, shrunk->job, shrunk->time);
}

void RunUses::settle(const Cluster& after, JobId id, Time at) {
  const Job* job = after.jobs.find(id.value);
  if (!job || !job->allocation) return;
  RunUse& run = runs_[{id, job->restarts}];
  if (run.since != kTimeUnset && at < run.since) run.sure = false;
  else if (run.cpus) run.cpu_seconds += static_cast<double>((at - run.since).count()) / 1e6 * run.cpus;
  run.since = at;
  run.cpus = job->state == JobState::kRunning ? job->allocation->total_cpus() : 0;
}

}  // namespace muster::sim
