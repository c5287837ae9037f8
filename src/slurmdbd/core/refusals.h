// Refusals that list what stands in the way, in the lines and columns in which Slurm's sacctmgr prints them: each line begins with a blank,
// and sacctmgr prints such lines as they are. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "model/accounting.h"
#include "model/accounts.h"

namespace muster::slurmdbd {

// "\n  JobID = 70003      C = test       A = theory     U = lp       "
std::string active_job(const JobRecord& job);
// `jobs`: lines of active_job().
std::unexpected<Error> jobs_active(const std::string& jobs);
std::unexpected<Error> default_qos_not_allowed(const AssociationRecord& association, const std::string& qos);

}  // namespace muster::slurmdbd
