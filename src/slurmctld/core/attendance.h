// Attendance: which allocations have somebody there: the salloc or srun that asked for them keeps a request open as long as it runs. An
// allocation that nobody has been there for as long as InactiveLimit is ended. slurm.conf(5) InactiveLimit. That somebody was there once is in
// the log (Job::attended); who is there now is not, so after a restart every such job counts as left from then on, and one whose command
// went while it was pending from its start. Cost: O(log n) a call,
// and due() O(jobs that nobody is there for).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace muster::slurmctld {

class Attendance {
 public:
  void came(JobId job) {
    ++here_[job];
    left_.erase(job);
  }
  void left(JobId job, Time now) {
    const auto at = here_.find(job);
    if (at == here_.end() || --at->second > 0) return;
    here_.erase(at);
    left_[job] = now;
  }
  // Of a job that was attended when the controller before this one ran, or before it started.
  void nobody_yet(JobId job, Time now) {
    if (!here_.contains(job)) left_[job] = now;
  }
  void over(JobId job) { left_.erase(job); }
  // The jobs that nobody has been there for since `limit` ago; they are not said again.
  std::vector<JobId> due(Time now, Duration limit) {
    std::vector<JobId> out;
    for (auto it = left_.begin(); it != left_.end();) {
      if (it->second + limit > now) {
        ++it;
        continue;
      }
      out.push_back(it->first);
      it = left_.erase(it);
    }
    return out;
  }
  Time next(Duration limit) const {
    Time next = kTimeInfinite;
    for (const auto& [job, since] : left_) next = std::min(next, since + limit);
    return next;
  }

 private:
  std::map<JobId, uint32_t> here_;  // how many are there
  std::map<JobId, Time> left_;
};

}  // namespace muster::slurmctld
