// PriorityFlags=INCR_ONLY: a priority that falls, because its association has used more or slurmdbd says otherwise of a QOS, stays what it was.
// Only then is a number written; one that grows with age needs none. What fell while no controller ran is made up for: a controller that starts
// works out the fair shares of the last moment that its state knows of, and goes on from there. slurm.conf(5).
//
// Cost: O(pending jobs), once in a PriorityCalcPeriod and with each word of slurmdbd.
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// The last moment at which something happened that the state tells of; unset: nothing did. Cost: O(jobs + associations).
Time last_known_moment(const Cluster& cluster);
// `before`: the state before this turn.
Events decide_kept_priorities(const Cluster& before, const View& view);

}  // namespace muster::slurmctld
