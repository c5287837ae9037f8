// What becomes of a job when it starts: recorded by apply, and laid out ahead of it for the other components of a heterogeneous job.
#include "slurmctld/core/apply.h"
#include "slurmctld/core/node_use.h"
#include "slurmctld/core/reservation_state.h"
#include "slurmctld/core/turns.h"

namespace muster::slurmctld {

void record_start(Cluster& cluster, Job& j, const event::JobStarted& e) {
  j.state = JobState::kRunning;
  if (j.flags & kJobExpediting) j.flags &= ~(kJobExpediting | kJobPriorityFixed);  // that was for this start
  j.flags = (j.flags & ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit | kJobLaunchFailed)) | e.flags;
  j.prolog_due = e.prolog;
  j.reason = (e.flags & kJobConfiguring) && (e.prolog || e.preparing.any()) ? Reason::kProlog : Reason::kNone;
  j.detail = nullptr;
  j.started = e.time;
  j.ends = e.ends;
  j.partition = e.partition;
  if (e.association) j.association = e.association;
  j.allocation = e.allocation;
  if (e.time_limit_min) j.time_limit_min = *e.time_limit_min;
  if (e.priority) j.priority = e.priority;
  cluster.count_licenses(j, true);
  j.launched = j.request->kind == JobKind::kAllocation && !(e.flags & kJobConfiguring);
  j.managed = e.managed;
  JobRun& run = j.run.edit();
  run.preparing = e.preparing;
  run.releasing = Bitmap(e.allocation->nodes.size());
  run.batch_index = e.batch_index;
  enter_reservation(cluster, e.reservation, run);
  run.first_port = e.first_port;
  run.last_port = e.last_port;
  if (const Node* n = cluster.nodes.find(j.batch_share().node.value)) run.batch_host = n->spec->name;
  NodeUse(cluster).hold(j, e.time);
  drop_claim(j);
}

void start_ahead(Cluster& cluster, const event::JobStarted& e) {
  Job* j = cluster.jobs.edit(e.job.value);
  if (!j) return;
  const Charge was = Charge::of(*j, cluster.partitions);
  record_start(cluster, *j, e);
  cluster.recharge(was, Charge::of(*j, cluster.partitions), e.time);
}

}  // namespace muster::slurmctld
