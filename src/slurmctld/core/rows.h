// Rows for queries, made from a Cluster that nobody changes any more. Pure; called on the query thread. The RowPart masks are applied here,
// so that nothing is built that nobody prints. row_query.h decides which rows a query is about. Cost: about 1 µs a job without texts.
#pragma once

#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/rows.h"
#include "model/rpc.h"
#include "sched/queue/priority.h"

namespace muster::slurmctld {

JobRow make_job_row(const Cluster& cluster, const sched::PriorityRule& rule, const Job& job, uint32_t parts);
// Id, array and state only: kRowStateOnly.
JobRow make_state_row(const Job& job);
StepRow make_step_row(const Cluster& cluster, const Job& job, const Step& step);
// The batch script, as the step that users know it as.
StepRow make_batch_step_row(const Cluster& cluster, const Job& job);
inline bool has_external_step(const Job& job) { return job.run->contained && job.allocation; }
StepRow make_external_step_row(const Cluster& cluster, const Job& job);  // of a contained job that has its nodes
NodeRow make_node_row(const Cluster& cluster, const Node& node, const std::vector<std::string>& partitions);
PartitionRow make_partition_row(const Cluster& cluster, const Partition& partition);

// All partitions that were asked for while the job waits, else the chosen one.
std::string partition_text(const Cluster& cluster, const Job& job);

// What a job asks for, in the numbers that squeue shows while it waits.
uint32_t wanted_nodes(const RequestBody& request);
uint32_t wanted_tasks(const RequestBody& request);
uint32_t wanted_cpus(const RequestBody& request);
TresAmounts tres_requested(const Cluster& cluster, const RequestBody& request, uint32_t partition);
uint64_t billing_of_node(const Cluster& cluster, const Node& node);

// Compressed node list of an allocation, in its order.
std::string node_list_of(const Cluster& cluster, const Allocation& allocation);
std::string node_list_of(const Cluster& cluster, const std::vector<NodeId>& nodes);
// Its flags, and whether it does not answer, which is not stored.
uint32_t flags_now(const Node& node);
// What it holds; of licences those that AccountingStorageTRES names.
TresAmounts tres_of(const Cluster& cluster, const Allocation& allocation);

// The allocation of a started job as salloc and srun need it.
rpc::Allocated make_allocated(const Cluster& cluster, const Job& job);

}  // namespace muster::slurmctld
