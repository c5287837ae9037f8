// Jobs that share no node (--exclusive), that have their nodes rebooted first (--reboot) and jobs that share no leaf of a topology (--exclusive=topo). What helps: jobs there end.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  if (!q.node.asked.shape.whole && !q.node.asked.shape.reboot) return;
  (left - q.node.nodes.idle()).for_each([&](size_t id) { q.out(NodeCause::kNotIdle, static_cast<uint32_t>(id)); });
}

Result<> at_start(const ShareQuestion& q) {
  if (q.node.whole_node_jobs > 0) return busy(q.node, "held whole by another job");
  if (q.start.allocation.whole_nodes && (q.node.jobs_running > 0 || q.node.jobs_completing > 0)) return busy(q.node, "not idle");
  return {};
}

void leave_leaves(const NodeQuestion& q, Bitmap& open) {
  if (!q.asked.shape.exclusive_topo || !q.asked.topology) return;
  open -= q.asked.topology->leaf_mates(q.nodes.known() - q.nodes.idle());
}

void sort_out_leaves(const CensusQuestion& q, const Bitmap& left) {
  const NodeQuestion& asked = q.node;
  if (!asked.asked.shape.exclusive_topo || !asked.asked.topology) return;
  const Bitmap mates = asked.asked.topology->leaf_mates(asked.nodes.known() - asked.nodes.idle());
  (left & mates).for_each([&](size_t id) { q.out(NodeCause::kNotIdle, static_cast<uint32_t>(id)); });
}

}  // namespace

constinit const NodeRule kWholeNodes{.name = "--exclusive",
                                     .by = HelpedBy::kJobsEnd,
                                     .leave =
                                         [](const NodeQuestion& q, Bitmap& open) {
                                           if (q.asked.shape.whole || q.asked.shape.reboot) open &= q.nodes.idle();
                                         },
                                     .sort_out = sort_out,
                                     .at_start = at_start};

constinit const NodeRule kWholeLeaves{
    .name = "--exclusive=topo", .by = HelpedBy::kJobsEnd, .leave = leave_leaves, .sort_out = sort_out_leaves};

}  // namespace muster::sched
