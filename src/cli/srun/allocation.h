// srun's allocation: the job it runs in (SLURM_JOB_ID, --jobid), or a job of its own that ends with srun. srun(1).
#pragma once

#include <optional>

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

// Waits for the job's nodes; a signal meanwhile gives the job up and ends the program. nullopt: the user was told.
std::optional<rpc::Allocated> allocate_own(Session& session, const AskedRequest& request, const os::CliLog& log);
// The same with several components; all have their nodes.
std::optional<rpc::HetAllocated> allocate_together(Session& session, std::vector<AskedRequest> components, const os::CliLog& log);
std::optional<rpc::Allocated> attach(Session& session, const rpc::JobSelector& job, const os::CliLog& log);
// --test-only for a new job, and for one that waits. Both give the exit code.
int test_only(Session& session, const AskedRequest& request, const os::CliLog& log);
int test_only(Session& session, const rpc::JobSelector& job, const os::CliLog& log);

// Creates the step as soon as the job's resources are free for it. nullopt: the user was told. With `queue`, a step whose resources are
// busy gets its number at once and waits (StepCreated::waiting).
std::optional<rpc::StepCreated> create_step(Session& session, JobId job, const StepRequest& request, bool queue, const os::CliLog& log);
// A step of each component, as soon as all can be. nullopt: the user was told.
std::optional<rpc::HetStepCreated> create_together(Session& session, rpc::CreateHetStep ask, const os::CliLog& log);
// --no-allocate: creates a step on the nodes that the request names. nullopt: the user was told.
std::optional<rpc::StepCreated> step_without_job(Session& session, const StepRequest& request, const os::CliLog& log);
// Waits until the waiting step has its nodes, through restarts of the controller too. Errors: it was cancelled, or its job ended.
Result<rpc::StepCreated> await_step(Session& session, JobId job, StepId step);

}  // namespace muster::cli
