// The two sides of a step whose job has namespaces of its own (os/job_namespace.h): what runs as the user is inside.
#pragma once

#include "base/result.h"
#include "model/step_run.h"
#include "os/job_namespace.h"

namespace muster::slurmstepd {

struct NamespaceSides {
  os::OpenNamespace inside;  // where we are not in it
  os::Fd outside;            // where we are
};
// Goes in if the whole step is to be there. What cannot be had fails the launch: nothing of a job runs outside the namespace that its site
// gives it.
Result<NamespaceSides> sides_of(const step_rpc::StepdNamespace& own);

}  // namespace muster::slurmstepd
