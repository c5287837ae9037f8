// Ids of jobs and of the tasks of arrays that get records of their own: one after the other from FirstJobId on, after MaxJobId from the start
// again, never one that a job or an array has. slurm.conf(5) FirstJobId, MaxJobId. Cost: one look-up for each id in use that is passed over.
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

class JobIds {
 public:
  JobIds(const Cluster& cluster, const config::Config& config);
  // Each call gives another. kTryAgainLater: every id is in use.
  Result<JobId> next();
  // The first of so many that follow one another: the components of a heterogeneous job.
  Result<JobId> next_in_a_row(uint32_t count);
  // For a task of an array whose change was decided already: where every id is in use, one beyond MaxJobId.
  JobId next_or_beyond();

 private:
  const Cluster& cluster_;
  uint32_t first_, most_, last_;
};

// The next id, which a job that is submitted now would get. Unset where none is free.
JobId expected_job_id(const Cluster& cluster, const config::Config& config);

}  // namespace muster::slurmctld
