// What becomes of a job when it starts: recorded by apply, and laid out ahead of it for the other components of a heterogeneous job.
#include "model/started_by.h"
#include "slurmctld/core/apply.h"
#include "slurmctld/core/node_use.h"
#include "slurmctld/core/reservation_state.h"
#include "slurmctld/core/turns.h"

namespace muster::slurmctld {

void record_start(Cluster& cluster, Job& job, const event::JobStarted& started) {
  job.state = JobState::kRunning;
  if (job.flags & kJobExpediting) job.flags &= ~(kJobExpediting | kJobPriorityFixed);  // that was for this start
  job.flags = (job.flags & ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit | kJobLaunchFailed | kStartedBy)) | started.flags;
  job.prolog_due = started.prolog;
  job.reason = (started.flags & kJobConfiguring) && (started.prolog || started.preparing.any()) ? Reason::kProlog : Reason::kNone;
  job.detail = nullptr;
  job.started = started.time;
  job.ends = started.ends;
  job.partition = started.partition;
  if (started.association) job.association = started.association;
  job.allocation = started.allocation;
  if (started.time_limit_min) job.time_limit_min = *started.time_limit_min;
  if (started.priority) job.priority = started.priority;
  cluster.count_licenses(job, true);
  job.launched = job.request->kind == JobKind::kAllocation && !(started.flags & kJobConfiguring);
  job.managed = started.managed;
  if (job.launched) set_memory_due(job, started.time);
  JobRun& run = job.run.edit();
  run.preparing = started.preparing;
  run.releasing = Bitmap(started.allocation->nodes.size());
  run.batch_index = started.batch_index;
  run.contained = started.contained;
  enter_reservation(cluster, started.reservation, run);
  run.first_port = started.first_port;
  run.last_port = started.last_port;
  if (const Node* n = cluster.nodes.find(job.batch_share().node.value)) run.batch_host = n->spec->name;
  NodeUse(cluster).hold(job, started.time);
  drop_claim(job);
}

void set_memory_due(Job& job, Time began) {
  if (!job.request->mem_update.empty()) job.run.edit().memory_due = began + job.request->mem_update->delay;
}

void start_ahead(Cluster& cluster, const event::JobStarted& e) {
  Job* j = cluster.jobs.edit(e.job.value);
  if (!j) return;
  const Charge was = Charge::of(*j, cluster.partitions);
  record_start(cluster, *j, e);
  cluster.recharge(was, Charge::of(*j, cluster.partitions), e.time);
  cluster.count_channels(*j, true);
}

}  // namespace muster::slurmctld
