// apply: records a fact in the Cluster and its Indexes. It takes no decisions and cannot fail: what the log holds is true, so an event
// about something that is not there (from a log of another build) changes nothing. Replay and live run use this function alone.
// Cost: O(log n), and O(nodes of the job) for a start and an end.
#pragma once

#include "model/cluster.h"
#include "model/event.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

void apply(Cluster& cluster, Indexes& indexes, const Event& event);

// record_start.cc: what a job that starts becomes, and holds of its nodes and licences; the part of apply that needs no index.
void record_start(Cluster& cluster, Job& job, const event::JobStarted& started);
// --mem-update: the job's script, or its allocation, begins now.
void set_memory_due(Job& job, Time began);
// The cluster as it will be when the job has started, for what is decided beside it. Not for array records.
void start_ahead(Cluster& cluster, const event::JobStarted& e);

}  // namespace muster::slurmctld
