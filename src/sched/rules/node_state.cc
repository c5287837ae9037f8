// Whether a node exists and is in service. What helps where it is not: an operator, or the node coming back by itself.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void unknown(const CensusQuestion& q, const Bitmap& left) {
  const Availability& nodes = q.node.nodes;
  left.for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    if (!nodes.node(id) || !nodes.known().test(at)) q.out(NodeCause::kUnavailable, id);
  });
}

NodeCause why_out_of_service(const Node& n) {
  if (n.flags & (kNodeDrain | kNodeFail)) return NodeCause::kDrained;
  if (n.admin == NodeState::kDown || n.admin == NodeState::kUnknown || n.admin == NodeState::kError ||
      (n.flags & (kNodeNoRespond | kNodeInvalid)))
    return NodeCause::kDown;
  return NodeCause::kUnavailable;
}

void out_of_service(const CensusQuestion& q, const Bitmap& left) {
  (left - q.node.nodes.usable()).for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    q.out(why_out_of_service(*q.node.nodes.node(id)), id);
  });
}

}  // namespace

constinit const NodeRule kNodeKnown{.name = "known", .sort_out = unknown};

constinit const NodeRule kNodeInService{
    .name = "in service",
    .leave = [](const NodeQuestion& q, Bitmap& open) { open &= q.nodes.usable(); },
    .sort_out = out_of_service,
    .at_start = [](const ShareQuestion& q) { return node_usable(q.node) ? Result<>() : Result<>(busy(q.node, "not available")); }};

}  // namespace muster::sched
