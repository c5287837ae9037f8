// muster explain JOB|NODE: why a job waits, ended or runs where it does; what is the matter with a node. The controller
// works it out from a snapshot (slurmctld/core/explain.h).
#pragma once

#include <span>
#include <string>

namespace muster::front {

// The verb. Words that are job ids (12, 12_3) are jobs, others nodes. 0, or 1 when one of them does not exist.
int explain_verb(std::span<const std::string> arguments);

}  // namespace muster::front
