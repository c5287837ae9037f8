// SchedulerParameters=assoc_limit_stop: where a job waits for a limit of an association, nobody behind it starts in that partition.
#pragma once

#include "acct/limits.h"
#include "base/bitmap.h"

namespace muster::sched {

class Stopped {
 public:
  explicit Stopped(bool wanted) : wanted_(wanted) {}
  // A job of the partition waits for this.
  void note(uint32_t partition, Reason reason) {
    if (wanted_ && acct::is_of_association(reason)) partitions_.set(partition);
  }
  bool has(uint32_t partition) const { return partitions_.test(partition); }

 private:
  bool wanted_;
  Bitmap partitions_;
};

}  // namespace muster::sched
