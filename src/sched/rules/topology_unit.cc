// No block, ring or part of a torus is free for a job, though enough nodes are: in a topology that is no tree, a job stands within its
// units or not at all. What helps: nodes of the right unit are given back.
#include <algorithm>

#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

// Whether enough nodes could take a part of the job now, wherever they stand. O(words of a bitmap) for whole nodes, else O(nodes).
bool nodes_enough(const RequestClass& asked, const Availability& nodes) {
  const Shape& shape = asked.shape;
  uint32_t wanted = std::max(shape.min_nodes, 1u);
  if (shape.num_tasks && asked.best_idle_tasks)
    wanted = std::max(wanted, (shape.num_tasks + asked.best_idle_tasks - 1) / asked.best_idle_tasks);
  Bitmap open = asked.feasible & nodes.usable();
  if (!open.contains(asked.required)) return false;
  if (shape.whole) return (open & nodes.idle()).count() >= wanted;
  const uint32_t least = shape.num_tasks ? 1 : std::max(shape.tasks_per_node, 1u);
  uint32_t n = 0;
  open.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    n += n < wanted &&
         count_tasks(shape, nodes.kind(id), {nodes.units_for(id, onlooker_of(asked, 0)), nodes.mem_free(id), nodes.gres_free(id)}) >= least;
  });
  return n >= wanted;
}

Reason waits(const NodeQuestion& q) {
  const RequestClass& c = q.asked;
  const bool concerns = c.topology && c.topology->kind() != TopologyKind::kTree && !c.never;
  return concerns && nodes_enough(c, q.nodes) ? Reason::kNoTopologyUnit : Reason::kNone;
}

}  // namespace

constinit const NodeRule kTopologyUnit{.name = "block, ring, torus", .by = HelpedBy::kForeseen, .waits = waits};

}  // namespace muster::sched
