// The file that SLURM_RESUME_FILE of ResumeProgram names: for which jobs which nodes are to come up, as JSON. Guide power_save. Texts that are
// not there are null. Cost: O(nodes of these jobs).
#pragma once

#include <string>

#include "slurmctld/core/core.h"

namespace muster::slurmctld {

std::string resume_file(const Cluster& cluster, const PowerNodes& what);

}  // namespace muster::slurmctld
