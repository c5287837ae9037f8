// What becomes of a job when it starts: recorded by apply, and laid out ahead of it for the other components of a heterogeneous job.
#include "slurmctld/core/apply.h"
#include "slurmctld/core/node_use.h"
#include "slurmctld/core/reservation_state.h"
#include "slurmctld/core/turns.h"

namespace muster::slurmctld {

void record_start(Cluster& cluster, Job& job, const event::JobStarted& e) {
  job.state = JobState::kRunning;
  if (job.flags & kJobExpediting) job.flags &= ~(kJobExpediting | kJobPriorityFixed);  // that was for this start
  job.flags = (job.flags & ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit | kJobLaunchFailed)) | e.flags;
  job.prolog_due = e.prolog;
  job.reason = (e.flags & kJobConfiguring) && (e.prolog || e.preparing.any()) ? Reason::kProlog : Reason::kNone;
  job.detail = nullptr;
  job.started = e.time;
  job.ends = e.ends;
  job.partition = e.partition;
  if (e.association) job.association = e.association;
  job.allocation = e.allocation;
  if (e.time_limit_min) job.time_limit_min = *e.time_limit_min;
  if (e.priority) job.priority = e.priority;
  cluster.count_licenses(job, true);
  job.launched = job.request->kind == JobKind::kAllocation && !(e.flags & kJobConfiguring);
  job.managed = e.managed;
  JobRun& run = job.run.edit();
  run.preparing = e.preparing;
  run.releasing = Bitmap(e.allocation->nodes.size());
  run.batch_index = e.batch_index;
  enter_reservation(cluster, e.reservation, run);
  run.first_port = e.first_port;
  run.last_port = e.last_port;
  if (const Node* n = cluster.nodes.find(job.batch_share().node.value)) run.batch_host = n->spec->name;
  NodeUse(cluster).hold(job, e.time);
  drop_claim(job);
}

void start_ahead(Cluster& cluster, const event::JobStarted& e) {
  Job* j = cluster.jobs.edit(e.job.value);
  if (!j) return;
  const Charge was = Charge::of(*j, cluster.partitions);
  record_start(cluster, *j, e);
  cluster.recharge(was, Charge::of(*j, cluster.partitions), e.time);
}

}  // namespace muster::slurmctld
