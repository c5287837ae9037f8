// Bounds of what a user writes into a request, at submission and when it is changed. The texts of prologs and epilogs are among
// them: root's programs get them as environment, and one string over 128 KiB (execve(2), E2BIG) would keep them from starting.
#pragma once

#include "base/result.h"
#include "model/job_request.h"

namespace muster::slurmctld {

// Error: the field, how long it is, and how long it may be.
Result<> check_texts(const JobRequest& request);

}  // namespace muster::slurmctld
