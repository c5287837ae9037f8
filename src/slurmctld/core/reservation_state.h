// What apply records about reservations. It decides nothing. Cost: O(1) but for a node that goes, O(reservations).
#pragma once

#include "model/cluster.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

void set_reservation(Cluster& c, Indexes& x, const Reservation* r);
void remove_reservation(Cluster& c, Indexes& x, uint32_t id);
void enter_reservation(const Cluster& c, uint32_t id, JobRun& run);  // a job starts in it; 0: in none
// A job in it is over: it is idle since then, if that was the last.
void note_use(Cluster& c, Indexes& x, uint32_t id, Time time);
void leave_reservations(Cluster& c, NodeId node);  // the node is gone

}  // namespace muster::slurmctld
