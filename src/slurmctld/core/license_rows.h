// Answers of `scontrol show licenses`. Pure; called on the query thread. Cost: one pass over the jobs.
#pragma once

#include "model/cluster.h"
#include "model/rpc.h"
#include "slurmctld/core/settings.h"

namespace muster::slurmctld {

// The licenses of slurm.conf and the remote ones that slurmdbd told of, in alphabetical order, each with how many of it running jobs hold;
// behind them the layers of resources.yaml in its order, a layer under its pool's name. What a layer's base amounts are counts as used.
// The name that is asked for may be a resource's: all its layers.
rpc::LicenseRows query_licenses(const Cluster& cluster, const Settings& settings, const rpc::QueryLicenses& query);

}  // namespace muster::slurmctld
