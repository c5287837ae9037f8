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
// of the controller, either all of them wait or none does. Those that run have their nodes from the same moment.
void Checkers::check_together(const Cluster& cluster) {
  cluster.jobs.for_each([&](uint32_t id, const Job& leader) {
    if (!leader.het.leads()) return;
    const std::string name = "job " + std::to_string(id);
    for (uint32_t i = 1; i < leader.het.size; ++i) {
      const Job* j = cluster.jobs.find(leader.het.component(i).value);
      if (!j) return fail("together", name + ": component " + std::to_string(i) + " is not there");
      if (j->het.leader != leader.id || j->het.offset != i || j->het.size != leader.het.size)
        return fail("together", name + ": component " + std::to_string(i) + " does not know its place");
      if (j->pending() != leader.pending())
        return fail("together", name + ": component " + std::to_string(i) + " without the first, or the first without it");
      if (j->allocation && leader.allocation && j->started != leader.started)
        return fail("together", name + ": component " + std::to_string(i) + " started at another moment");
      if (j->restarts != leader.restarts)
        return fail("together", name + ": component " + std::to_string(i) + " came back without the first");
    }
  });
}

}  // namespace muster::sim
