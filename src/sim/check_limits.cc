// Limits at the moment of a start: tasks of an array at once, and what the partition allows.
#include "sim/world.h"

namespace muster::sim {

// The %limit is the array record's while there is one, else what was submitted.
void Checkers::check_array_limit(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  if (!j || !j->array_job_id || !j->array_tasks) return;
  uint32_t limit = j->array_tasks->max_running, running = 0;
  if (!limit) return;
  mirror_.jobs.for_each([&](uint32_t, const Job& o) { running += o.array_job_id == j->array_job_id && !o.pending() && !o.finished(); });
  if (running >= limit)
    fail("array_limit", "array " + std::to_string(j->array_job_id.value) + ": " + std::to_string(running + 1) + " tasks at once, %" + std::to_string(limit));
}

void Checkers::check_partition_limits(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  const Partition* p = mirror_.partitions.find(e.partition);
  auto bad = [&](const std::string& what) { fail("partition_limits", "job " + std::to_string(e.job.value) + ": " + what); };
  if (!j) return;
  if (!p) return bad("no such partition");
  const auto& nodes = e.allocation->nodes;
  if (p->state != PartitionState::kUp && p->state != PartitionState::kDrain) bad("starts in " + p->name + ", which is " + std::string(partition_state_name(p->state)));
  if (nodes.size() > p->max_nodes) bad(std::to_string(nodes.size()) + " nodes, MaxNodes=" + std::to_string(p->max_nodes));
  if (p->oversubscribe == OverSubscribe::kExclusive && !e.allocation->whole_nodes) bad(p->name + " is EXCLUSIVE");
  for (const NodeShare& s : nodes) {
    const Node* n = mirror_.nodes.find(s.node.value);
    if (!n) return bad("no such node");
    if (!p->nodes.test(s.node.value)) bad(name(s.node) + " is not in " + p->name);
    if (n->admin != NodeState::kIdle || (n->flags & (kNodeDrain | kNodeFail | kNodeInvalid | kNodeNoRespond)))
      bad(name(s.node) + " is " + node_state_long(n->admin, n->flags));
    if (s.cpus.count() > p->max_cpus_per_node && !e.allocation->whole_nodes)
      bad(std::to_string(s.cpus.count()) + " CPUs on " + name(s.node) + ", MaxCPUsPerNode=" + std::to_string(p->max_cpus_per_node));
  }
}

}  // namespace muster::sim
