// What preemption has to do with a job: who makes room for it or would, whom it makes room for, and why it came back into the queue.
// Cost: for a waiting job that may preempt others, up to two full passes over the queue.
#pragma once

#include "model/cluster.h"
#include "model/explanation.h"
#include "sched/params.h"

namespace muster::sched {

void add_preemption(const Cluster& cluster, const Params& params, Time now, const Job& job, JobExplanation& out);

}  // namespace muster::sched
