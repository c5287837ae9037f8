// Leftovers: ends what a job or a step left running in its control group and removes the group, while the loop goes on. A process that
// cannot be killed is named in the log in the end, and its group stays.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "os/log.h"
#include "os/node/cgroups.h"
#include "slurmd/daemon/insist.h"

namespace muster::slurmd {

class Leftovers {
 public:
  Leftovers(net::Loop& loop, os::Log& log) : loop_(loop), log_(log) {}

  // Kills before it returns, and waits afterwards. Does nothing where there are no groups.
  void end(const std::optional<os::CgroupOptions>& groups, JobId job, std::optional<StepId> step = std::nullopt);
  // A step of the job's next run is about to be in these groups: they are left alone from now on.
  void leave(JobId job, StepId step);

 private:
  using Key = std::pair<JobId, std::optional<StepId>>;
  bool attempt(os::Cgroup& group, bool last);

  net::Loop& loop_;
  os::Log& log_;
  std::map<Key, Insist> waiting_;
};

}  // namespace muster::slurmd
