// Which jobs an rpc::JobFilter means: the one filter of squeue, scontrol show and scancel. Pure.
#pragma once

#include "model/cluster.h"
#include "model/rpc.h"

namespace muster::slurmctld {

// What a filter names is looked up for each job, so lists of more than a few have to be in order.
void put_in_order(rpc::JobFilter& filter);

// Every part of the filter that is not empty must agree. States are met by a base state or by a flag.
bool matches_filter(const Cluster& cluster, const Job& job, const rpc::JobFilter& filter);

}  // namespace muster::slurmctld
