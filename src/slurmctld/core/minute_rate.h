// MinuteRate: at most so many in a minute. slurm.conf(5) SuspendRate, ResumeRate. Not state: after a restart the minute begins anew.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"

namespace muster::slurmctld {

class MinuteRate {
 public:
  // How many more may be taken now; a rate of 0 sets no bound.
  size_t room(Time now, uint32_t rate) {
    while (!taken_.empty() && taken_.front() + minutes(1) <= now) taken_.pop_front();
    if (rate == 0) return SIZE_MAX;
    return taken_.size() >= rate ? 0 : rate - taken_.size();
  }
  void take(Time now, size_t count) { taken_.insert(taken_.end(), count, now); }
  // When there is room for `count`, where there is too little now. `count` is at most the rate, which is not 0.
  Time when(Time now, uint32_t rate, size_t count) {
    const size_t lacking = count - room(now, rate);
    return taken_.size() < lacking || lacking == 0 ? now : taken_[lacking - 1] + minutes(1);
  }

 private:
  std::deque<Time> taken_;  // in the last minute, the oldest first
};

}  // namespace muster::slurmctld
