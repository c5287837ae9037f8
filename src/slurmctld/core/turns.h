// What suspensions, preemption and requeues leave in a job's record, for apply. It records and decides nothing.
#pragma once

#include "model/event.h"
#include "slurmctld/core/node_use.h"

namespace muster::slurmctld {

// The job stops or goes on; nothing where it does so already.
void record(Job& job, const event::JobSuspended& suspended, NodeUse& use);
void record(Job& job, const event::JobPreempted& e);
void record(Job& job, const event::JobClaimed& e);
// Back to PENDING with a clean slate.
void record(Job& job, const event::JobRequeued& requeued);
void drop_claim(Job& job);

}  // namespace muster::slurmctld
