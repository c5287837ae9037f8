// Answers of `scontrol show licenses`. Pure; called on the query thread. Cost: one pass over the jobs.
#pragma once

#include "config/slurm_conf.h"
#include "model/cluster.h"
#include "model/rpc.h"

namespace muster::slurmctld {

// The licenses of slurm.conf and the remote ones that slurmdbd told of, in alphabetical order, each with how many of it running jobs hold.
rpc::LicenseRows query_licenses(const Cluster& cluster, const config::Config& config, const rpc::QueryLicenses& query);

}  // namespace muster::slurmctld
