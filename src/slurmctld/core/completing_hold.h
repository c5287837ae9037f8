// CompletingHold: what CompleteWait keeps from starting. While a job that ended less than CompleteWait ago is still COMPLETING, no job
// starts; with SchedulerParameters=reduce_completing_frag this holds only in its partition and in those that share nodes with it.
// slurm.conf(5). Pure.
#pragma once

#include <algorithm>
#include <vector>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

class CompletingHold {
 public:
  explicit CompletingHold(const View& v);
  bool keeps_back(const sched::StartItem& item) const {
    return everywhere_ || partitions_.test(item.partition) ||
           std::ranges::any_of(item.together, [&](const sched::StartItem& i) { return partitions_.test(i.partition); });
  }

 private:
  bool everywhere_ = false;
  Bitmap partitions_;
};

}  // namespace muster::slurmctld
