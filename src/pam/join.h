// Takes a login that slurmd has adopted into the namespaces of its job, whose file slurmd names in the answer's text where the job has them
// (os/job_namespace.h). Into the namespace of processes go the processes that the login starts; whoever logs him in stays outside.
// The pam_slurm_adopt guide, join_container.
#pragma once

#include "base/result.h"
#include "model/step_rpc.h"

namespace muster::pam {

// Once this has worked, the process and all that it starts see the job's directories. What goes wrong makes the answer a failure to adopt.
void join_namespace(Result<rpc::ProcessAdopted>& answer);

}  // namespace muster::pam
