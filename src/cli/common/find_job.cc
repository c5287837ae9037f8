#include "cli/common/find_job.h"

namespace muster::cli {

Result<JobId> find_job(Session& session, const rpc::JobSelector& job) {
  if (job.array_task == kNoArrayTask && !job.sluid && !job.het_offset) return job.job;
  rpc::QueryJobs query;
  query.filter.jobs.push_back(job);
  query.filter.jobs.back().has_step = false;
  query.show_all = true;
  JobId found{};
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs)
      if (job.sluid || job.het_offset || row.array_task == job.array_task) found = row.id;
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (!found) return fail(Errc::kInvalidJobId);
  return found;
}

}  // namespace muster::cli
