// Which jobs an rpc::JobFilter means: the one filter of squeue, scontrol show and scancel. Pure.
#pragma once

#include "model/cluster.h"
#include "model/rpc.h"

namespace muster::slurmctld {

// Sorts the lists of a filter. The names in them are looked up for each job, so lists of more than a few have to be sorted first.
void put_in_order(rpc::JobFilter& filter);

// Whether the job agrees with every part of the filter that is not empty. Of states, its base state or one of its flags is enough.
bool matches_filter(const Cluster& cluster, const Job& job, const rpc::JobFilter& filter);

}  // namespace muster::slurmctld
