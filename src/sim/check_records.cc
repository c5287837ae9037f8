// Accounting: after healing, slurmdbd has everything: each run of each job, and the last state of each job. What a step used on a node is
// counted once. The records of a run add up to the CPUs that it had, for as long as it had them, also where its job gave up nodes.
#include <cmath>

#include "model/usage_time.h"
#include "sim/world.h"
#include "slurmctld/core/run_parts.h"
#include "wire/accounting_instances.h"

namespace muster::sim {

// A job may give up nodes whose part of a step is over; the step's record then says the nodes that are left, and the use of all.
void Checkers::note_width(const event::StepCreated& created) {
  const Job* job = mirror_.jobs.find(created.job.value);
  if (!job) return;
  size_t& most = step_width_[{slurmctld::key_of(*job, created.step.start), created.step.id}];
  most = std::max(most, created.step.shares.size());
}

// The external step of a contained job is on all nodes that the job began on.
void Checkers::note_width(const event::JobStarted& started) {
  const Job* job = started.contained ? mirror_.jobs.find((started.task_job ? started.task_job : started.job).value) : nullptr;
  if (job) step_width_[{{job->id, job->submitted, job->restarts}, kExternStep}] = started.allocation->nodes.size();
}

// A record's times are whole seconds, and so is what it was suspended.
void Checkers::check_recorded_use() {
  struct Recorded {
    double cpu_seconds = 0, unsure = 0;
  };
  std::map<std::pair<JobId, uint32_t>, Recorded> recorded;
  for (const auto& [key, record] : world_.accounting.jobs()) {
    Recorded& run = recorded[{key.id, key.restarts}];
    run.unsure += 3.0 * record.cpus;
    if (const Span used = used_span(record); !used.empty() && used.until != kTimeInfinite)
      run.cpu_seconds += static_cast<double>(used.seconds_within(used.from, used.until)) * record.cpus;
  }
  for (const auto& [run, use] : run_uses_.runs()) {
    const auto at = recorded.find(run);
    if (at == recorded.end() || !use.sure) continue;
    if (std::abs(at->second.cpu_seconds - use.cpu_seconds) > at->second.unsure)
      fail("records", "run " + std::to_string(run.second) + " of job " + std::to_string(run.first.value) + " had " +
                          std::to_string(use.cpu_seconds) + " CPU-seconds, and its records have " + std::to_string(at->second.cpu_seconds));
  }
}

void Checkers::check_records(const slurmctld::Core& core) {
  if (!core.cluster().accounting) return;
  if (!core.indexes().unrecorded().empty() || !core.cluster().kept_records.empty()) fail("records", "some were never acknowledged");
  auto name = [](JobId id) { return "job " + std::to_string(id.value); };
  for (JobId id : acknowledged_) {
    const JobRecord* r = world_.accounting.last_run(id);
    if (!r) fail("records", name(id) + " is not in the database");
    else if (!is_finished(r->state)) fail("records", name(id) + " is there as " + std::string(job_state_name(r->state)));
  }
  for (const auto& [id, generation] : started_)
    if (!world_.accounting.job(id, generation))
      fail("records", "run " + std::to_string(generation) + " of " + name(id) + " is not in the database");
  // Each node tells what one task used.
  for (const auto& [key, step] : world_.accounting.steps()) {
    const auto width = step_width_.find(key);
    const size_t began_on = width == step_width_.end() ? 1 : std::max<size_t>(1, width->second);  // a batch script is on one node
    if (step.usage && step.usage->tasks > began_on)
      fail("records", "what a step of " + name(key.first.id) + " used on " + std::to_string(began_on) + " nodes was told by " +
                          std::to_string(step.usage->tasks));
  }
  check_recorded_use();
  core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
    const JobRecord* stored = world_.accounting.job(j.id, j.restarts);
    std::string now, there;
    wire::encode(slurmctld::make_job_record(core.cluster(), j), now);
    if (stored) wire::encode(*stored, there);
    if (now != there) fail("records", name(j.id) + " is in the database as it was, not as it is");
  });
}

}  // namespace muster::sim
