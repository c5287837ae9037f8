// FarFuture: the grid of a plan beyond a day from now. There, starts are moments of a coarse grid and lengths are rounded up to its steps: what
// is to happen in three days depends on limits that most jobs do not use up, so minutes say nothing, and each of them costs a row of every
// line (fit_line.h). Nearer than that, and in the plan of everything that starts now, the grid is bf_resolution. Where the far future begins moves
// by whole hours, so that what one pass has found out is good for the next ones (profile_memory.h). docs/adr/0022.
//
// Not where there are reservations: a job may fit between two of them to the minute, and must not be told that it never starts.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "sched/future/timeline.h"

namespace muster::sched {

class FarFuture {
 public:
  static constexpr int64_t kBegins = 24 * 3600, kMovesBy = 3600, kStep = 600;  // seconds; whole hours and steps of the absolute grid

  // `resolution`: seconds of a slot; `base`: slot 0 on the absolute grid. `exact`: there is none.
  FarFuture(Time now, int64_t resolution, int64_t base, bool exact) : base_(base) {
    if (exact || resolution >= kStep || kStep % resolution != 0) return;
    step_ = kStep / resolution;
    const int64_t from = (unix_seconds(now) / kMovesBy + 1) * kMovesBy + kBegins;
    begins_ = static_cast<Slot>(from / resolution - base);
  }

  // On the absolute grid; the same where this moment may be answered as an earlier one.
  int64_t begins() const { return begins_ == kNever ? 0 : base_ + begins_; }
  // The first moment at `slot` or later at which a job may be planned to start.
  Slot start(Slot slot) const { return slot < begins_ || slot == kNever ? slot : static_cast<Slot>(rounded_up(base_ + slot) - base_); }
  // How long one that starts there keeps its nodes in the plan.
  Slot length(Slot length, Slot start) const { return start < begins_ ? length : static_cast<Slot>(rounded_up(length)); }

 private:
  int64_t rounded_up(int64_t slots) const { return (slots + step_ - 1) / step_ * step_; }

  int64_t base_, step_ = 1;
  Slot begins_ = kNever;
};

}  // namespace muster::sched
