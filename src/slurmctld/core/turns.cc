#include "slurmctld/core/turns.h"

#include <algorithm>

namespace muster::slurmctld {

void record(Job& j, const event::JobSuspended& e, NodeUse& use) {
  const bool stops = !e.resumed && j.state == JobState::kRunning, goes_on = e.resumed && j.state == JobState::kSuspended;
  if (!stops && !goes_on) return;
  JobRun& run = j.run.edit();
  if (goes_on) {
    const Duration away = std::max(e.time - run.suspended, Duration::zero());  // the clock may have stepped back
    run.suspended_total += away;
    if (j.ends != kTimeUnset && j.ends != kTimeInfinite) j.ends += away;
    run.suspended = kTimeUnset;
    run.slice_began = e.time;
    run.suspend_cause = SuspendCause::kUser;
    if (run.off_cpus) use.take_cpus_again(j, e.time);
    run.off_cpus = false;
    j.state = JobState::kRunning;
  } else {
    run.suspended = e.time;
    run.suspend_cause = e.cause;
    if (e.cause == SuspendCause::kUser) {
      use.leave_cpus(j, e.time);
      run.off_cpus = true;
    }
    j.state = JobState::kSuspended;
  }
  run.settling = Bitmap(j.allocation->nodes.size(), true);
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

void record(Job& j, const event::JobRequeued& e) {
  j.state = JobState::kPending;
  j.reason = e.reason;
  j.flags = e.flags;
  j.priority = e.priority;
  j.eligible = e.eligible;
  j.submitted = e.time;
  if (j.accrues != kTimeUnset) j.accrues = kTimeInfinite;
  ++j.restarts;
  if (e.restart.cause != RestartCause::kNone) j.turns.edit().restart = e.restart;
  j.next_step = 0;
  j.managed = false;
  j.started = j.ends = j.ended = kTimeUnset;
  j.allocation = nullptr;
  j.run.drop();
  j.launched = j.prolog_due = j.epilog_due = false;
  j.exit_status = j.derived_exit_status = 0;
  j.detail = nullptr;
  j.cancelled_by = Uid();
  j.cancel_asked = false;
}

void drop_claim(Job& j) {
  if (!j.turns->claim) return;
  j.turns.edit().claim = nullptr;
  if (j.turns->restart.cause == RestartCause::kNone) j.turns.drop();
}

}  // namespace muster::slurmctld
