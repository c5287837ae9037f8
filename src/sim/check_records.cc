// Accounting: after healing, slurmdbd has everything: each run of each job, and the last state of each job. What a step used on a node is
// counted once.
#include "sim/world.h"
#include "wire/accounting_instances.h"

namespace muster::sim {

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
  for (const auto& [key, step] : world_.accounting.steps())
    if (step.usage && step.usage->tasks > std::max(1u, step.nodes))
      fail("records", "what a step of " + name(key.first.id) + " used on " + std::to_string(step.nodes) + " nodes was told by " +
                          std::to_string(step.usage->tasks));
  core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
    const JobRecord* stored = world_.accounting.job(j.id, j.restarts);
    std::string now, there;
    wire::encode(slurmctld::make_job_record(core.cluster(), j), now);
    if (stored) wire::encode(*stored, there);
    if (now != there) fail("records", name(j.id) + " is in the database as it was, not as it is");
  });
}

}  // namespace muster::sim
