#include "slurmctld/core/turns.h"

#include <algorithm>

namespace muster::slurmctld {

void record(Job& job, const event::JobSuspended& suspended, NodeUse& use) {
  const bool stops = !suspended.resumed && job.state == JobState::kRunning,
             goes_on = suspended.resumed && job.state == JobState::kSuspended;
  if (!stops && !goes_on) return;
  JobRun& run = job.run.edit();
  if (goes_on) {
    const Duration away = std::max(suspended.time - run.suspended, Duration::zero());  // the clock may have stepped back
    run.suspended_total += away;
    if (job.ends != kTimeUnset && job.ends != kTimeInfinite) job.ends += away;
    run.suspended = suspended.time;
    run.slice_began = suspended.time;
    run.suspend_cause = SuspendCause::kUser;
    if (run.off_cpus) use.take_cpus_again(job, suspended.time);
    run.off_cpus = false;
    job.state = JobState::kRunning;
  } else {
    run.suspended = suspended.time;
    run.suspend_cause = suspended.cause;
    if (suspended.cause == SuspendCause::kUser) {
      use.leave_cpus(job, suspended.time);
      run.off_cpus = true;
    }
    job.state = JobState::kSuspended;
  }
  run.settling = Bitmap(job.allocation->nodes.size(), true);
}

void record(Job& j, const event::JobPreempted& e) {
  if (!j.allocation || j.finished()) return;
  JobRun& run = j.run.edit();
  run.preempted = e.time;
  run.preempted_by = e.by;
  run.preempt_how = e.how;
  if (e.ends != kTimeUnset && (j.ends == kTimeUnset || e.ends < j.ends)) j.ends = e.ends;
}

void record(Job& j, const event::JobClaimed& e) {
  if (!e.claim) return drop_claim(j);
  if (j.pending()) j.turns.edit().claim = e.claim;
}

void record(Job& job, const event::JobRequeued& requeued) {
  job.state = JobState::kPending;
  job.reason = requeued.reason;
  job.flags = requeued.flags;
  job.priority = requeued.priority;
  job.eligible = requeued.eligible;
  job.submitted = requeued.time;
  if (job.accrues != kTimeUnset) job.accrues = kTimeInfinite;
  ++job.restarts;
  if (requeued.restart.cause != RestartCause::kNone) job.turns.edit().restart = requeued.restart;
  job.next_step = 0;
  job.managed = false;
  job.started = job.ends = job.ended = kTimeUnset;
  job.allocation = nullptr;
  job.run.drop();
  job.launched = job.prolog_due = job.epilog_due = false;
  job.exit_status = job.derived_exit_status = 0;
  job.detail = nullptr;
  job.cancelled_by = Uid();
  job.cancel_asked = false;
}

void drop_claim(Job& j) {
  if (!j.turns->claim) return;
  j.turns.edit().claim = nullptr;
  if (j.turns->restart.cause == RestartCause::kNone) j.turns.drop();
}

}  // namespace muster::slurmctld
