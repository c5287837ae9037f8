// srun's allocation: the job it runs in (SLURM_JOB_ID, --jobid), or one of its own that goes with it.
// srun(1).
#pragma once

#include <optional>

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// Waits for its nodes; a signal meanwhile gives the job up and ends the program. nullopt: told to the user.
std::optional<rpc::Allocated> allocate_own(Session& session, const JobRequest& request,
                                           const os::CliLog& log);
std::optional<rpc::Allocated> attach(Session& session, JobId job, const os::CliLog& log);
// --test-only. The exit code.
int test_only(Session& session, const JobRequest& request, const os::CliLog& log);

// The step, as soon as the job's resources are free for it. nullopt: told to the user.
std::optional<rpc::StepCreated> create_step(Session& session, JobId job, const StepRequest& request,
                                            const os::CliLog& log);

}  // namespace muster::cli
