// How a job comes back into the queue: why, when, with which priority, and when it is held instead. slurm.conf(5) JobRequeue, RequeueExit,
// MaxBatchRequeue, requeue_delay, enable_expedited_requeue; sbatch(1) --requeue.
//
// What would go round and round is held after MaxBatchRequeue: a job whose nodes fail, whose launch or prolog fails, or that exits with a
// code of RequeueExit. A job that made room for another was not at fault, nor one for which a node did not come up, and what a user requeues starts to
// count anew.
#include <sys/wait.h>

#include <algorithm>

#include "sched/queue/pending.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

bool at_fault(RestartCause cause) {
  using enum RestartCause;
  return cause == kNodeFailed || cause == kExitCode || cause == kLaunchFailed || cause == kPrologFailed;
}

RestartCause cause_of(const Job& job) {
  if (job.state == JobState::kPreempted) return RestartCause::kPreempted;
  if (job.flags & kJobLaunchFailed) return RestartCause::kLaunchFailed;
  if (job.state == JobState::kNodeFail || job.state == JobState::kBootFail) return RestartCause::kNodeFailed;
  if (job.reason == Reason::kProlog) return RestartCause::kPrologFailed;
  if (job.state == JobState::kFailed && WIFEXITED(job.exit_status) && WEXITSTATUS(job.exit_status) != 0) return RestartCause::kExitCode;
  return RestartCause::kUser;
}

// The cloud had no machine for it: it has done nothing that could be wrong, and there will be one again.
bool had_no_machine(const Job& job) { return job.state == JobState::kBootFail; }

// Whether some state of the cluster could still serve the job in one of its partitions: licences, nodes and limits may have become
// fewer since it was submitted.
bool request_still_valid(const View& v, const Job& job) {
  std::vector<uint32_t> partitions = sched::partitions_of(v.cluster, job);
  return std::ranges::any_of(partitions, [&](uint32_t p) {
    return !v.cluster.partitions.find(p) || v.feasibility.check(v.cluster, v.settings.sched, *job.request, p).has_value();
  });
}

// With the highest priority, and at once.
void expedite(const View& v, event::JobRequeued& e) {
  e.eligible = v.now;
  e.priority = kUnlimited32 - 1;
  e.flags = kJobExpediting | kJobPriorityFixed;
  e.reason = Reason::kNone;
}

}  // namespace

bool may_be_expedited(const View& v, const Job& job) {
  return job.request->requeue_expedite && v.settings.config().slurmctld_parameters.has("enable_expedited_requeue");
}

bool failed_too_often(const View& v, const Job& job) { return job.turns->restart.failures >= v.settings.config().max_batch_requeue; }

Restart restart_of(const View& view, const Job& job) {
  Restart r;
  r.cause = cause_of(job);
  r.time = view.now;
  if (r.cause == RestartCause::kPreempted) r.by = job.run->preempted_by;
  if (r.cause == RestartCause::kUser) r.user = job.cancelled_by;
  if (r.cause == RestartCause::kExitCode) r.exit_status = job.exit_status;
  r.node = job.run->failed_node;
  r.has_node = job.run->has_failed_node;
  const bool counts = at_fault(r.cause) && !had_no_machine(job);
  r.failures = r.cause == RestartCause::kUser ? 0 : job.turns->restart.failures + (counts ? 1 : 0);
  return r;
}

void after_release(const View& v, const Job& job, Events& out) {
  if (job.het) return release_together(v, job, out);
  requeue_one(v, job, out);
}

void requeue_one(const View& view, const Job& job, Events& out) {
  const CronJob* cron = recurrence_of(view.cluster, job);
  if (!job.cleaned_up() || !(cron || (job.flags & (kJobRequeued | kJobRequeueHold)))) return;
  const bool held = job.priority == 0 && (job.flags & (kJobHeldByUser | kJobHeldByAdmin));  // it was held while it ran
  event::JobRequeued requeued;
  requeued.job = job.id;
  requeued.time = view.now;
  requeued.eligible = cron ? earliest_start(view, job) : view.now + view.settings.requeue_delay;
  if (!cron) requeued.restart = restart_of(view, job);  // its next turn is no restart of this one
  const bool too_often = requeued.restart.failures > view.settings.config().max_batch_requeue;
  const bool hold = (job.flags & kJobRequeueHold) || held || (too_often && at_fault(requeued.restart.cause));
  if (hold && (job.flags & kJobLaunchFailed) && !too_often) {
    requeued.flags = kJobHeldByUser;  // the node was at fault: the job's owner may release it
    requeued.reason = Reason::kLaunchFailedHeld;
  } else if (hold) {
    const bool by_user = (job.flags & kJobHeldByUser) && !(job.flags & kJobHeldByAdmin);
    requeued.flags = (by_user ? kJobHeldByUser : kJobHeldByAdmin) | (job.flags & kJobSpecialExit);
    requeued.reason = too_often ? Reason::kJobHoldMaxRequeue : by_user ? Reason::kJobHeldUser : Reason::kJobHeldAdmin;
  } else if (!request_still_valid(view, job)) {
    requeued.flags = kJobHeldByAdmin;
    requeued.reason = Reason::kBadConstraints;
  } else if (at_fault(requeued.restart.cause) && requeued.restart.cause != RestartCause::kExitCode && may_be_expedited(view, job) &&
             !job.dependencies) {
    expedite(view, requeued);
  } else {
    const bool fixed = job.flags & kJobPriorityFixed;
    requeued.priority = fixed && job.priority ? job.priority : default_priority(view, job.id, job.request->nice);
    if (fixed) requeued.flags |= kJobPriorityFixed;
    requeued.reason = waiting_reason(view, job.dependencies.get(), requeued.eligible);
  }
  out.push_back(requeued);
}

}  // namespace muster::slurmctld
