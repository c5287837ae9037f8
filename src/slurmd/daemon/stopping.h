// JobStopper: stops all that a job runs on this node, and lets it go on. With a grace time SIGTSTP comes first, so that the job may get
// ready. slurm.conf(5) PreemptParameters=suspend_grace_time.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "net/loop.h"
#include "slurmd/core/node_core.h"

namespace muster::slurmd {

class JobStopper {
 public:
  // `signal`: sends to every process of the job. `done`: the job stands still, or goes on; called before carry_out returns, or `later`.
  JobStopper(net::Loop& loop, std::function<void(JobId, uint16_t)> signal, std::function<void(const StopSteps&, bool later)> done)
      : loop_(loop), signal_(std::move(signal)), done_(std::move(done)) {}
  void carry_out(const StopSteps& e);
  void forget(JobId job) { soon_.erase(job); }

 private:
  void now(const StopSteps& e, bool later);

  net::Loop& loop_;
  std::function<void(JobId, uint16_t)> signal_;
  std::function<void(const StopSteps&, bool later)> done_;
  std::map<JobId, std::unique_ptr<net::Loop::Timer>> soon_;  // jobs that were told, and are stopped when this fires
};

}  // namespace muster::slurmd
