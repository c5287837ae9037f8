// A partition without nodes: those of its NodeSets may still be made, by scontrol create. Until then its jobs wait. slurm.conf(5), NodeSet.
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  return {Reason::kPartitionConfig, "partition " + q.partition.name + " has no nodes"};
}

}  // namespace

constinit const JobRule kPartitionHasNodes{
    .name = "nodes of the partition",
    .same_for_class = true,
    .concerns = [](const RequestClass&, const Partition& p, const Params&) { return p.nodes.none(); },
    .holds = holds};

}  // namespace muster::sched
