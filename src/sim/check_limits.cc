// Limits at the moment of a start: how many tasks of an array run at once, what the partition allows, what accounting allows.
#include <algorithm>

#include "model/account_directory.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

uint64_t amount_of(const Allocation& a, const std::string& tres) {
  uint64_t out = tres == "node" ? a.nodes.size() : 0;
  for (const NodeShare& s : a.nodes) {
    if (tres == "cpu") out += s.counted_cpus();
    if (tres == "mem") out += s.mem_mb;
    for (const GresShare& g : s.gres)
      if (tres == "gres/" + g.name || tres == "gres/" + g.name + ":" + g.type) out += g.count;
  }
  return out;
}

}  // namespace

// The %limit is in the array's record, which the task leaves with this event.
void Checkers::check_array_limit(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  if (!j || !j->array_job_id || !j->array_tasks) return;
  uint32_t limit = j->array_tasks->max_running, running = 0;
  if (!limit) return;
  mirror_.jobs.for_each([&](uint32_t, const Job& o) { running += o.array_job_id == j->array_job_id && !o.pending() && !o.finished(); });
  if (running >= limit)
    fail("array_limit", "array " + std::to_string(j->array_job_id.value) + ": " + std::to_string(running + 1) + " tasks at once, %" +
                            std::to_string(limit));
}

void Checkers::check_partition_limits(const event::JobStarted& e) {
  const Job* j = mirror_.jobs.find(e.job.value);
  const Partition* p = mirror_.partitions.find(e.partition);
  auto bad = [&](const std::string& what) { fail("partition_limits", "job " + std::to_string(e.job.value) + ": " + what); };
  if (!j) return;
  if (!p) return bad("no such partition");
  const auto& nodes = e.allocation->nodes;
  if (p->state != PartitionState::kUp && p->state != PartitionState::kDrain)
    bad("starts in " + p->name + ", which is " + std::string(partition_state_name(p->state)));
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

// Where accounting is enforced, a job that starts has an association, and a QOS that is one of the association's. Worked out from what
// slurmdbd had said in the log until then, by looking at every association.
void Checkers::check_admission(const event::JobStarted& e) {
  const acct::Enforcement& enforced = world_.scenario.settings.sched.enforcement;
  const Job* j = mirror_.jobs.find(e.job.value);
  if (!enforced.associations || !j) return;
  const RequestBody& r = *j->request;
  const Partition& p = mirror_.partitions.at(e.partition);
  const AssociationRecord* own = nullptr;
  if (mirror_.directory)
    mirror_.directory->associations.for_each([&](uint32_t, const AssociationRecord& a) {
      const bool meant = a.user == r.user_name && a.account == r.account && (a.partition.empty() || a.partition == p.name);
      if (meant && (!own || !a.partition.empty())) own = &a;
    });
  const std::string job =
      "job " + std::to_string(e.job.value) + " of " + r.user_name + " with account '" + r.account + "', QOS '" + r.qos + "' in " + p.name;
  if (!own) return fail("admission", job + " starts without an association");
  if (own->id != e.association) fail("admission", job + " starts for association " + std::to_string(e.association));
  const bool may_use = r.qos_granted || std::ranges::find(own->qos, r.qos) != own->qos.end();
  if (enforced.qos && (!may_use || !mirror_.directory->qos.contains(r.qos)))
    fail("admission", job + " starts with a QOS that it may not use");
}

// At a start no association, and none above it, comes to hold more than its GrpTRES or GrpJobs. It may hold more only because the limit was
// lowered, and then nothing more starts. Counted from all jobs, and not by the ledger.
void Checkers::check_group_limits(const event::JobStarted& e) {
  if (!world_.scenario.settings.sched.enforcement.limits || !mirror_.directory) return;
  const auto& associations = mirror_.directory->associations;
  auto stands_below = [&](uint32_t id, uint32_t above) {
    for (const AssociationRecord* a = associations.find(id); a; a = associations.find(a->parent_id))
      if (a->id == above) return true;
    return false;
  };
  for (const AssociationRecord* a = associations.find(e.association); a; a = associations.find(a->parent_id))
    for (const Limit& limit : a->limits) {
      const bool jobs = limit.kind == LimitKind::kGrpJobs;
      const uint64_t wanted = jobs ? 1 : amount_of(*e.allocation, limit.tres);
      uint64_t held = 0;
      mirror_.jobs.for_each([&](uint32_t, const Job& o) {
        if (o.pending() || o.finished() || !stands_below(o.association, a->id)) return;
        held += jobs ? 1 : amount_of(*o.allocation, limit.tres);
      });
      if (wanted > 0 && held + wanted > limit.value)
        fail("group_limits", "job " + std::to_string(e.job.value) + " brings account " + a->account + " " + a->user + " to " +
                                 std::to_string(held + wanted) + " " + (jobs ? "jobs" : limit.tres) + " of " + std::to_string(limit.value));
    }
}

}  // namespace muster::sim
