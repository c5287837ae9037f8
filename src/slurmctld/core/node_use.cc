#include "slurmctld/core/node_use.h"

#include <algorithm>

namespace muster::slurmctld {

void NodeUse::hold(const Job& j, Time now) {
  for (const NodeShare& s : j.allocation->nodes) {
    Node* n = c_.nodes.edit(s.node.value);
    if (!n) continue;
    hold_cpus(n->cpus_used, n->cpus_shared, s.cpus);
    hold_cpus_of(n->by_partition, j.partition, s.cpus);
    n->mem_used_mb += s.mem_mb;
    for (const GresShare& g : s.gres)
      if (is_consumed(*n->spec, g)) add_gres(n->gres_used, g);
    ++n->jobs_running;
    if (j.allocation->whole_nodes) ++n->whole_node_jobs;
    if (j.allocation->oversubscribe) ++n->shared_jobs;
    if (j.allocation->exclusive_user) {
      n->exclusive_user = true;
      n->exclusive_uid = j.request->uid;
    }
    if (!j.allocation->mcs_label.empty()) n->mcs_label = j.allocation->mcs_label;
    n->last_busy = now;
  }
  for (uint32_t id : j.allocation->fenced) fence(id);
}

void NodeUse::fence(uint32_t id) {
  if (Node* n = c_.nodes.edit(id)) {
    ++n->fences;
    n->flags |= kNodeBlocked;
  }
}

// A node that a running job no longer needs is free at once, or when nothing of the job is left on it.
void NodeUse::give_up(Job& j, const NodeShare& share, bool at_once, Time now) {
  if (at_once) return release(j, share, false, now);
  j.run.edit().leaving.push_back(share);
  complete_on(share.node, j.run->off_cpus);
}

void NodeUse::complete_on(NodeId id, bool off_cpus) {
  Node* n = c_.nodes.edit(id.value);
  if (!n) return;
  uint32_t& count = off_cpus ? n->jobs_off : n->jobs_running;
  if (count) --count;
  ++n->jobs_completing;
  n->flags |= kNodeCompleting;
}

// The last node of the job is free, and with it what the job kept from others.
void NodeUse::lift_fences(const Job& j) {
  for (uint32_t id : j.allocation->fenced)
    if (Node* n = c_.nodes.edit(id)) {
      if (n->fences) --n->fences;
      if (n->fences == 0) n->flags &= ~kNodeBlocked;
    }
  if (!j.allocation->fenced.empty()) ++c_.nodes_epoch;
}

// The job ended: nodes it need not wait for are free at once, the others complete first.
void NodeUse::end(const Job& j, Time now) {
  for (size_t i = 0; i < j.allocation->nodes.size(); ++i) {
    const NodeShare& s = j.allocation->nodes[i];
    if (!j.run->releasing.test(i)) {
      release(j, s, false, now);
      continue;
    }
    complete_on(s.node, j.run->off_cpus);
  }
}

void NodeUse::leave_cpus(const Job& j, Time now) {
  ++c_.use_epoch;
  for (const NodeShare& s : j.allocation->nodes) {
    Node* n = c_.nodes.edit(s.node.value);
    if (!n) continue;
    free_cpus(n->cpus_used, n->cpus_shared, s.cpus);
    free_cpus_of(n->by_partition, j.partition, s.cpus);
    if (j.allocation->whole_nodes && n->whole_node_jobs) --n->whole_node_jobs;
    if (j.allocation->oversubscribe && n->shared_jobs) --n->shared_jobs;
    if (n->jobs_running) --n->jobs_running;
    ++n->jobs_off;
    n->last_busy = now;
  }
}

void NodeUse::take_cpus_again(const Job& j, Time now) {
  for (const NodeShare& s : j.allocation->nodes) {
    Node* n = c_.nodes.edit(s.node.value);
    if (!n) continue;
    hold_cpus(n->cpus_used, n->cpus_shared, s.cpus);
    hold_cpus_of(n->by_partition, j.partition, s.cpus);
    if (j.allocation->whole_nodes) ++n->whole_node_jobs;
    if (j.allocation->oversubscribe) ++n->shared_jobs;
    if (n->jobs_off) --n->jobs_off;
    ++n->jobs_running;
    n->last_busy = now;
  }
}

void NodeUse::release(const Job& j, const NodeShare& s, bool completing, Time now) {
  ++c_.use_epoch;
  Node* n = c_.nodes.edit(s.node.value);
  if (!n) return;
  const bool off = j.run->off_cpus;
  if (!off) free_cpus(n->cpus_used, n->cpus_shared, s.cpus);
  if (!off) free_cpus_of(n->by_partition, j.partition, s.cpus);
  n->mem_used_mb -= std::min(n->mem_used_mb, s.mem_mb);
  for (const GresShare& g : s.gres)
    if (is_consumed(*n->spec, g)) remove_gres(n->gres_used, g);
  uint32_t& count = completing ? n->jobs_completing : off ? n->jobs_off : n->jobs_running;
  if (count) --count;
  if (n->jobs_completing == 0) n->flags &= ~kNodeCompleting;
  if (!off && j.allocation->whole_nodes && n->whole_node_jobs) --n->whole_node_jobs;
  if (!off && j.allocation->oversubscribe && n->shared_jobs) --n->shared_jobs;
  if (!n->has_jobs()) {
    n->exclusive_user = false;
    n->mcs_label.clear();
  }
  n->last_busy = now;
}

}  // namespace muster::slurmctld
