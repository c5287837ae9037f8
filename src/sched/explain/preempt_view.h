// What preemption has to do with a job: who makes room for it or would, whom it makes room for, and why it came back into the queue.
// Cost: for a waiting job that may preempt others, up to two full passes over the queue.
#pragma once

#include <string_view>

#include "model/cluster.h"
#include "model/explanation.h"
#include "sched/params.h"

namespace muster::sched {

// Why a suspended job does not run, and when it goes on: "its turn comes again (time slice)".
std::string_view why_suspended(const Job& job);

void add_preemption(const Cluster& cluster, const Params& params, Time now, const Job& job, JobExplanation& out);

}  // namespace muster::sched
