// MaxCPUsPerNode and MaxCPUsPerSocket: how many CPUs of a node all jobs of one partition may have together. How they count:
// supply/partition_limit.h; node_fit.h asks that where it counts and where it chooses. What helps: a job of the partition gives CPUs of the
// node back.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

std::string says(const NodeQuestion& q) {
  const PartitionLimit limit = limit_of(q.asked.shape);
  return limit.concerns() ? limit.text() : std::string();
}

Result<> at_start(const ShareQuestion& q) {
  const Partition& p = q.start.partition;
  const PartitionLimit limit{p.max_cpus_per_node, p.max_cpus_per_socket};
  if (!limit.concerns() || q.start.allocation.whole_nodes || q.start.params.linear) return {};
  const PartitionUse* own = use_of_partition(q.node.by_partition, p.index);
  const Kind kind = make_kind(q.node, q.start.params.allocate_cores || q.start.params.linear);
  if (!limit.allows(kind.sockets, kind.cpus, own ? own->cpus : Bitmap(), q.share.cpus)) return busy(q.node, limit.text());
  return {};
}

}  // namespace

constinit const NodeRule kPartitionCpus{
    .name = "MaxCPUsPerNode, MaxCPUsPerSocket", .by = HelpedBy::kForeseen, .says = says, .at_start = at_start};

}  // namespace muster::sched
