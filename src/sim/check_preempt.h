// Whoever makes room is needed for it, and is gone before its place is another's; nobody is suspended for a job that is over.
#pragma once

#include <string>

#include "model/cluster.h"
#include "model/event.h"
#include "sched/planner.h"

namespace muster::sim {

// What is wrong with an event, in the state before it; "": nothing.
std::string preemption_problem(const Cluster& state, const sched::Params& params, const Event& event);

}  // namespace muster::sim
