// What is free on a node: CPUs, memory and devices by counting (fit/node_fit.h), then where they are. A placement counts as it chooses;
// this file says why a node is left out, and whether a share is still free at the start. What helps: jobs there end.
#include <algorithm>

#include "sched/rules/held_devices.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

struct Amounts {
  uint32_t units = 0;
  uint64_t mem_mb = 0;
  std::vector<uint64_t> gres;
};

uint32_t tasks_on(const Shape& s, const Kind& kind, const NodeFree& free) {
  const uint32_t tasks = count_tasks(s, kind, free);
  return s.num_tasks == 0 && tasks < s.tasks_per_node ? kNoTasks : tasks;
}

// Which of CPUs, memory and devices is too little in `have`, the other two being as on an idle node.
NodeCause too_little(const Shape& s, const Kind& kind, const NodeFree& have) {
  std::vector<uint64_t> gres(kind.gres.size());
  free_gres(kind, {}, gres.data());
  if (tasks_on(s, kind, {have.units, kind.mem_mb, gres}) == kNoTasks) return NodeCause::kCpusInUse;
  if (tasks_on(s, kind, {kind.units, have.mem_mb, gres}) == kNoTasks) return NodeCause::kMemoryInUse;
  if (tasks_on(s, kind, {kind.units, kind.mem_mb, have.gres}) == kNoTasks) return NodeCause::kDevicesInUse;
  return NodeCause::kCpusInUse;
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  const Availability& nodes = q.node.nodes;
  const Shape& s = q.node.asked.shape;
  left.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    const NodeFree have = free_for(q.node, id);
    if (tasks_on(s, nodes.kind(id), have) == kNoTasks) q.out(too_little(s, nodes.kind(id), have), id);
  });
}

void sort_out_by_layout(const CensusQuestion& question, const Bitmap& left) {
  const Availability& nodes = question.node.nodes;
  const RequestClass& asked = question.node.asked;
  const Shape& shape = asked.shape;
  if (shape.oversubscribe) return;
  JobGres whole;
  for (const GresNeed& need : shape.per_job) whole.counts.push_back(std::min<uint64_t>(need.count, 1));
  const uint32_t least = shape.num_tasks ? 1 : std::max(shape.tasks_per_node, 1u);
  left.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    const Kind& kind = nodes.kind(id);
    if (counts_decide(shape, kind)) return;
    if (!choose_on_node(shape, kind, NodeId(id), nodes.use_for(id, onlooker_of(asked, 0)), least, whole))
      question.out(NodeCause::kLayoutInUse, id);
  });
}

// Whether a job of the partition may have CPUs that others hold: all jobs on the node share theirs, and none of the CPUs has as many jobs
// of this partition as the partition allows, or a job of a partition that is no peer.
bool may_share_cpus(const ShareQuestion& question) {
  const Node& node = question.node;
  const Partition& partition = question.start.partition;
  const NodeShare& share = question.share;
  if (!question.start.allocation.oversubscribe || node.shared_jobs < node.jobs_running) return false;
  const uint32_t most = std::max(partition.oversubscribe_count, 1u);
  return std::ranges::all_of(node.by_partition, [&](const PartitionUse& u) {
    if (u.partition != partition.index) {
      const Partition* other = question.start.cluster.partitions.find(u.partition);
      return (other && other->priority_tier == partition.priority_tier) || !share.cpus.intersects(u.cpus);
    }
    if (most == 1) return !share.cpus.intersects(u.cpus);
    return most - 2 >= u.cpus_shared.size() || !share.cpus.intersects(u.cpus_shared[most - 2]);
  });
}

Result<> cpus_fit(const ShareQuestion& q) {
  const NodeSpec& spec = *q.node.spec;
  const RequestBody& r = q.start.request;
  const bool own_spec = q.start.allocation.whole_nodes && q.start.params.job_core_spec && (r.core_spec_given || r.core_spec > 0);
  if (!own_spec && q.share.cpus.intersects(spec.specialized_cpus)) return busy(q.node, "CPUs are reserved for the system");
  if (q.share.cpus.none()) return busy(q.node, "no CPUs in the plan");
  size_t last = 0;
  q.share.cpus.for_each([&](size_t cpu) { last = cpu; });
  if (last >= spec.cpus) return busy(q.node, "has fewer CPUs than planned");
  if (q.share.cpus.intersects(q.node.cpus_used) && !may_share_cpus(q)) return busy(q.node, "CPUs are in use");
  return {};
}

Result<> at_start(const ShareQuestion& q) {
  MUSTER_TRY_VOID(cpus_fit(q));
  const NodeSpec& spec = *q.node.spec;
  if (q.memory) {
    const uint64_t all = spec.real_memory_mb > spec.specialized_mem_mb ? spec.real_memory_mb - spec.specialized_mem_mb : 0;
    if (q.share.mem_mb > all || q.node.mem_used_mb > all - q.share.mem_mb) return busy(q.node, "memory is in use");
  }
  for (const GresShare& g : q.share.gres)
    if (!devices_fit(q.node, g)) return busy(q.node, "gres/" + g.name + " is in use");
  return {};
}

}  // namespace

NodeFree free_for(const NodeQuestion& q, uint32_t id) {
  const bool shares = q.asked.shape.oversubscribe;
  return {shares ? q.nodes.kind(id).units : q.nodes.units_for(id, onlooker_of(q.asked, 0)), q.nodes.mem_free(id), q.nodes.gres_free(id)};
}

constinit const NodeRule kNodeAmounts{
    .name = "CPUs, memory, devices", .by = HelpedBy::kForeseen, .sort_out = sort_out, .at_start = at_start};
constinit const NodeRule kNodeLayout{.name = "layout of a node", .by = HelpedBy::kForeseen, .sort_out = sort_out_by_layout};

}  // namespace muster::sched
