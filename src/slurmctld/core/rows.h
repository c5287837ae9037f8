// Rows for queries, made from a Cluster that nobody changes any more. Pure; called on I/O threads. Filters of rpc::JobFilter and
// the RowPart masks are applied here, so that nothing is built that nobody prints. Cost: about 1 µs a job without texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/rows.h"
#include "model/rpc.h"

namespace muster::slurmctld {

JobRow make_job_row(const Cluster& cluster, const Job& job, uint32_t parts);
StepRow make_step_row(const Cluster& cluster, const Job& job, const Step& step);
NodeRow make_node_row(const Cluster& cluster, const Node& node, const std::vector<std::string>& partitions);
PartitionRow make_partition_row(const Cluster& cluster, const Partition& partition);

// Compressed node list of an allocation, in its order.
std::string node_list_of(const Cluster& cluster, const Allocation& allocation);
// "cpu=4,mem=8G,node=1,billing=4,gres/gpu=2,gres/gpu:h100=2"
std::string tres_of(const Allocation& allocation);

bool matches_filter(const Cluster& cluster, const Job& job, const rpc::JobFilter& filter);

// Streams the answer in parts of about 64 KiB. `emit` returns false to stop.
void query_jobs(const Cluster& cluster, const rpc::QueryJobs& q, const std::function<bool(rpc::JobRows&&)>& emit);
Result<> query_nodes(const Cluster& cluster, const rpc::QueryNodes& q, const std::function<bool(rpc::NodeRows&&)>& emit);
Result<rpc::PartitionRows> query_partitions(const Cluster& cluster, const rpc::QueryPartitions& q);

// The allocation of a started job as salloc and srun need it.
rpc::Allocated make_allocated(const Cluster& cluster, const Job& job);

}  // namespace muster::slurmctld
