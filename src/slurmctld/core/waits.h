// What commands wait for: sbatch --wait, scontrol wait_job, salloc and srun for their nodes, swait, sacct for records. The daemon calls
// look() at once and then after each turn that touched the job, until there is an answer. These are values without a clock: the job's state
// says it all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/rpc.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// In each look(), `job` is null where the job does not exist or no longer does; the result is nullopt while the wait is not over.
class JobWait {
 public:
  JobWait(const rpc::WaitJob& request, Privacy privacy) : request_(request), privacy_(std::move(privacy)) {}
  std::optional<Result<rpc::JobResult>> look(const Cluster& cluster, const Job* job);

 private:
  rpc::WaitJob request_;
  Privacy privacy_;
  bool known_ = false;
};

// swait(1). It does not wait for the step in which the user's own shell runs (salloc with use_interactive_step).
class StepsWait {
 public:
  StepsWait(Privacy privacy, Rights rights) : privacy_(std::move(privacy)), rights_(std::move(rights)) {}
  std::optional<Result<rpc::Empty>> look(const Cluster& cluster, const Job* job);

 private:
  Privacy privacy_;
  Rights rights_;
  bool known_ = false;
};

class AllocationWait {
 public:
  // `nodes` is set, once, when the job has nodes but they are not ready yet.
  std::optional<Result<rpc::Allocated>> look(const Cluster& cluster, const Job* job, std::optional<std::string>& nodes);

 private:
  bool told_ = false;
};

// The position of the log up to which slurmdbd has to have all records; 0: it has them. Without `jobs` it is all that happened so far. So it
// is where one of them is not known any more, whose last record may still wait, or may not be seen: the time that it takes is the same.
uint64_t records_awaited(const Cluster& cluster, const Indexes& indexes, const Privacy& privacy, const std::vector<JobId>& jobs);

}  // namespace muster::slurmctld
