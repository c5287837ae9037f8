// muster explain JOB|NODE: why a job waits, ended or runs where it does; what is wrong with a node. The controller works it out from a
// snapshot (slurmctld/core/explain.h).
#pragma once

#include <span>
#include <string>

namespace muster::front {

// The verb. Words that are job ids (12, 12_3) are jobs, others nodes. The exit code is 1 when one of them does not exist, else 0.
int explain_verb(std::span<const std::string> arguments);

}  // namespace muster::front
