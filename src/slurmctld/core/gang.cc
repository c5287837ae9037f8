// Core: PreemptMode=GANG. Notes where jobs that share CPUs may have to stop or go on, and gives each its slice.
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

void Core::note_turns(JobId job) {
  if (const Job* j = cluster_.jobs.find(job.value); j && j->allocation)
    for (const NodeShare& share : j->allocation->nodes) turned_.insert(share.node);
}

void Core::note_turns(const Event& event) {
  if (auto* s = std::get_if<event::JobStarted>(&event)) note_turns(s->task_job ? s->task_job : s->job);
  else if (auto* u = std::get_if<event::JobSuspended>(&event); u && (u->resumed || u->cause == SuspendCause::kUser)) note_turns(u->job);
  if (indexes_.waiting_turns().empty()) return;  // nobody could go on
  if (auto* e = std::get_if<event::JobEnding>(&event); e && e->releasing.none()) note_turns(e->task_job ? e->task_job : e->job);
  else if (auto* r = std::get_if<event::JobNodesReleased>(&event)) note_turns(r->job);
  else if (auto* l = std::get_if<event::JobNodeLeft>(&event)) turned_.insert(l->node);
  else if (auto* k = std::get_if<event::JobShrunk>(&event)) note_turns(k->job);
}

void Core::take_turns(bool next_slice) {
  Events out;
  slurmctld::take_turns(own(), std::exchange(turned_, {}), next_slice, out);
  if (next_slice) slice_ends_ = kTimeInfinite;
  take(std::move(out));
  // What stopped and went on was decided together; nothing new follows from it.
  turned_.clear();
}

void Core::watch_slices() {
  const bool due = settings_.sched.preempt.modes.gang && !indexes_.waiting_turns().empty();
  if (!due) {
    if (slice_ends_ != kTimeInfinite) indexes_.clear_timer(slice_ends_, TimerKind::kTimeSlice, 0);
    slice_ends_ = kTimeInfinite;
  } else if (slice_ends_ == kTimeInfinite) {
    slice_ends_ = now_ + settings_.sched.preempt.time_slice;
    indexes_.set_timer(slice_ends_, TimerKind::kTimeSlice, 0);
  }
}

}  // namespace muster::slurmctld
