// srun over components of a heterogeneous job: in a job of its own, or in the one it is called in (--het-group, ":"). guide
// heterogeneous_jobs; srun(1).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "cli/common/spank.h"
#include "os/cli_log.h"

namespace muster::cli {

// A component without a command runs that of the next one that has one.
void fill_commands(JobScanResult& scan);

// The variables as a step in that component is to see them: NAME_HET_GROUP_# in place of NAME. What the job says of its first component
// says nothing of the others.
EnvLookup environment_of_component(EnvLookup process, uint32_t component);

// Whether the command line means more than the job that srun is in, or one of its own.
bool means_components(const JobScanResult& scan, const JobOptions& first);

// What a component's options still need: what only srun's own process knows.
using CompleteOptions = std::function<Result<>(JobOptions&, const std::vector<std::string>& operands)>;

// Does all of srun's work. Gives the exit code.
int run_together(Session& session, const JobScanResult& scan, const JobInputs& in, const JobOptions& first, const CompleteOptions& complete,
                 SpankHost& plugins, const os::CliLog& log);

}  // namespace muster::cli
