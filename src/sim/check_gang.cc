// A start has all its nodes, each once, with the tasks, CPUs and devices that were asked for.
#include "sim/world.h"

namespace muster::sim {
namespace {

uint64_t gpus_of(const NodeShare& s) {
  uint64_t n = 0;
  for (const GresShare& g : s.gres) n += g.name == "gpu" ? g.count : 0;
  return n;
}

}  // namespace

void Checkers::check_gang(const event::JobStarted& started) {
  const Job* job = mirror_.jobs.find(started.job.value);
  if (!job || !started.allocation) return;
  const RequestBody& request = *job->request;
  const Allocation& allocation = *started.allocation;
  auto bad = [&](const std::string& what) { fail("gang", "job " + std::to_string(started.job.value) + ": " + what); };
  std::set<NodeId> distinct;
  uint64_t gpus = 0;
  for (const NodeShare& s : allocation.nodes) {
    if (!distinct.insert(s.node).second) bad("node " + name(s.node) + " twice");
    if (s.cpus.none()) bad("no CPUs on " + name(s.node));
    if (s.cpus.count() < uint64_t{s.tasks} * std::max(1u, request.cpus_per_task)) bad("too few CPUs for the tasks on " + name(s.node));
    if (request.mem_per_node_mb && world_.scenario.settings.sched.memory_consumable && s.mem_mb < *request.mem_per_node_mb)
      bad("less memory than asked on " + name(s.node));
    if (!request.tres_per_node.empty() && gpus_of(s) < request.tres_per_node->gres("gpu")) bad("fewer GPUs than asked on " + name(s.node));
    gpus += gpus_of(s);
  }
  if (!request.tres_per_job.empty() && gpus < request.tres_per_job->gres("gpu")) bad("fewer GPUs than asked");
  if (request.num_tasks && allocation.total_tasks() < request.num_tasks) bad("fewer tasks than asked");
  uint32_t least = request.num_tasks ? std::min(request.min_nodes, request.num_tasks) : request.min_nodes;  // no node without a task
  if (allocation.nodes.size() < least || (request.max_nodes && allocation.nodes.size() > request.max_nodes))
    bad(std::to_string(allocation.nodes.size()) + " nodes");
  const Partition* p = mirror_.partitions.find(started.partition);
  bool forced = p && p->oversubscribe == OverSubscribe::kForce;  // slurm.conf(5): no user can turn FORCE off
  if (request.exclusive == Exclusive::kNode && !allocation.whole_nodes && !forced) bad("--exclusive, but not whole nodes");
}

// The components of a heterogeneous job are there together, wait together and start together: after each turn, and in each later incarnation
// of the controller, either all of them wait or none does. Those that run have their nodes from the same moment, and are stopped by nobody but a
// user: neither for a time slice of others nor to make room.
void Checkers::check_together(const Cluster& cluster) {
  cluster.jobs.for_each([&](uint32_t id, const Job& leader) {
    if (!leader.het.leads()) return;
    const std::string name = "job " + std::to_string(id);
    if (leader.waits_for_turn()) return fail("together", name + " is half suspended: it waits for its turn");
    for (uint32_t offset = 1; offset < leader.het.size; ++offset) {
      const Job* other = cluster.jobs.find(leader.het.component(offset).value);
      if (!other) return fail("together", name + ": component " + std::to_string(offset) + " is not there");
      if (other->het.leader != leader.id || other->het.offset != offset || other->het.size != leader.het.size)
        return fail("together", name + ": component " + std::to_string(offset) + " does not know its place");
      if (other->pending() != leader.pending())
        return fail("together", name + ": component " + std::to_string(offset) + " without the first, or the first without it");
      if (other->allocation && leader.allocation && other->started != leader.started)
        return fail("together", name + ": component " + std::to_string(offset) + " started at another moment");
      if (other->waits_for_turn())
        return fail("together", name + " is half suspended: component " + std::to_string(offset) + " waits for its turn");
      if (other->restarts != leader.restarts)
        return fail("together", name + ": component " + std::to_string(offset) + " came back without the first");
    }
  });
}

}  // namespace muster::sim
