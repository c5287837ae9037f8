// The jobs that a scancel means, with their names: --interactive asks for each, --verbose lists them. scancel(1).
#pragma once

#include <string>
#include <vector>

#include "cli/common/session.h"

namespace muster::cli {

struct Candidate {
  rpc::JobSelector job;  // as it is shown: a task of an array as one
  JobId id{};
  std::string name, partition;
};

// The jobs that are not over and that the request's filter means; for a step that is named, its job.
Result<std::vector<Candidate>> candidates(Session& session, const rpc::SignalJobs& request);

// Replaces the filter of `request` by what was confirmed, possibly nothing. The result is the jobs and steps that were named and do not
// exist (any more).
Result<std::vector<rpc::JobSelector>> confirm_each(Session& session, rpc::SignalJobs& request);

}  // namespace muster::cli
