#include "slurmctld/core/node_use.h"

#include <algorithm>

namespace muster::slurmctld {

void NodeUse::hold(const Job& job, Time now) {
  for (const NodeShare& share : job.allocation->nodes) {
    Node* node = c_.nodes.edit(share.node.value);
    if (!node) continue;
    hold_cpus(node->cpus_used, node->cpus_shared, share.cpus);
    hold_cpus_of(node->by_partition, job.partition, share.cpus);
    node->mem_used_mb += share.mem_mb;
    for (const GresShare& g : share.gres)
      if (is_consumed(*node->spec, g)) add_gres(node->gres_used, g);
    ++node->jobs_running;
    if (job.allocation->whole_nodes) ++node->whole_node_jobs;
    if (job.allocation->oversubscribe) ++node->shared_jobs;
    if (job.allocation->exclusive_user) {
      node->exclusive_user = true;
      node->exclusive_uid = job.request->uid;
    }
    if (!job.allocation->mcs_label.empty()) node->mcs_label = job.allocation->mcs_label;
    node->last_busy = now;
  }
  for (uint32_t id : job.allocation->fenced) fence(id);
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

void NodeUse::leave_cpus(const Job& job, Time now) {
  ++c_.use_epoch;
  for (const NodeShare& s : job.allocation->nodes) {
    Node* n = c_.nodes.edit(s.node.value);
    if (!n) continue;
    free_cpus(n->cpus_used, n->cpus_shared, s.cpus);
    free_cpus_of(n->by_partition, job.partition, s.cpus);
    if (job.allocation->whole_nodes && n->whole_node_jobs) --n->whole_node_jobs;
    if (job.allocation->oversubscribe && n->shared_jobs) --n->shared_jobs;
    if (n->jobs_running) --n->jobs_running;
    ++n->jobs_off;
    n->last_busy = now;
  }
}

void NodeUse::take_cpus_again(const Job& job, Time now) {
  for (const NodeShare& s : job.allocation->nodes) {
    Node* n = c_.nodes.edit(s.node.value);
    if (!n) continue;
    hold_cpus(n->cpus_used, n->cpus_shared, s.cpus);
    hold_cpus_of(n->by_partition, job.partition, s.cpus);
    if (job.allocation->whole_nodes) ++n->whole_node_jobs;
    if (job.allocation->oversubscribe) ++n->shared_jobs;
    if (n->jobs_off) --n->jobs_off;
    ++n->jobs_running;
    n->last_busy = now;
  }
}

void NodeUse::release(const Job& job, const NodeShare& share, bool completing, Time now) {
  ++c_.use_epoch;
  Node* node = c_.nodes.edit(share.node.value);
  if (!node) return;
  const bool off = job.run->off_cpus;
  if (!off) free_cpus(node->cpus_used, node->cpus_shared, share.cpus);
  if (!off) free_cpus_of(node->by_partition, job.partition, share.cpus);
  node->mem_used_mb -= std::min(node->mem_used_mb, share.mem_mb);
  for (const GresShare& g : share.gres)
    if (is_consumed(*node->spec, g)) remove_gres(node->gres_used, g);
  uint32_t& count = completing ? node->jobs_completing : off ? node->jobs_off : node->jobs_running;
  if (count) --count;
  if (node->jobs_completing == 0) node->flags &= ~kNodeCompleting;
  if (!off && job.allocation->whole_nodes && node->whole_node_jobs) --node->whole_node_jobs;
  if (!off && job.allocation->oversubscribe && node->shared_jobs) --node->shared_jobs;
  if (!node->has_jobs()) {
    node->exclusive_user = false;
    node->mcs_label.clear();
  }
  node->last_busy = now;
}

}  // namespace muster::slurmctld
