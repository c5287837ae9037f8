// What keeps a job out of the queue, whatever its partitions and the cluster have: it is held, its last run is being cleaned up, what it
// depends on has not happened, its begin time has not come, its deadline has passed. The first of the list that applies gives the job its
// reason. What helps is a person, another job's end, or time; where it is time, the verdict says when.
//
// Cost: O(dependencies of the job).
#pragma once

#include "model/cluster.h"

namespace muster::sched {

// Why a job cannot be considered at all at `now`; kNone if it can.
Verdict not_eligible(const Job& job, Time now);
// The same for the rules that are asked only when the job's turn comes.
Verdict not_in_turn(const Job& job, Time now);

}  // namespace muster::sched
