// The table that sbatch, srun and salloc print with -v: each option that was given, by name, with its value as the command understood it.
// Pure. srun(1) --verbose.
#pragma once

#include <string>
#include <vector>

#include "options/job_options.h"

namespace muster {

// Lines such as "ntasks              : 4", in order of the names.
std::vector<std::string> defined_options(const JobOptions& options);

}  // namespace muster
