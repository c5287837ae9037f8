// Nodes that the layers of hierarchical resources leave to a job, while the rule of licences has found what is left of them
// (RequestClass::layers). What helps: jobs that hold some of a layer end. guide hres; request/layers.h.
#include <algorithm>

#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void leave(const NodeQuestion& q, Bitmap& open) {
  if (q.asked.layers) open &= q.asked.layers->open();
}

// Too few nodes are left, or not those that it names, and that is for want of a layer's amounts.
Hold missing(const NodeQuestion& q, const Bitmap& open) {
  const LayerRoom* room = q.asked.layers.get();
  if (!room) return {};
  const size_t wanted = std::max<size_t>({q.asked.shape.min_nodes, q.asked.required.count(), 1});
  const bool named = room->has_room_for(q.asked.required);
  if (named && room->most_of(open) >= wanted) return {};
  if (named && open.count() < wanted && room->open().contains(q.asked.feasible & q.nodes.usable())) return {};  // for want of nodes
  return {Reason::kLicenses, room->lacking(static_cast<uint32_t>(wanted))};
}

}  // namespace

constinit const NodeRule kLayers{.name = "layers of hierarchical resources", .by = HelpedBy::kForeseen, .leave = leave, .missing = missing};

}  // namespace muster::sched
