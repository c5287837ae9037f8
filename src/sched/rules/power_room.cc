// SlurmctldParameters=max_powered_nodes: never are more nodes powered up than that, so a start wakes no more. slurm.conf(5). A node counts until it
// is powered down: while it comes up, while it is down, and until SuspendTimeout is over. What helps: nodes power down, which those do that nobody has
// needed for SuspendTime; none is made to.
//
// Which of the powered-down nodes a gang may have is settled where it is chosen (place/gang_room.h); here, that none is left to a job where there is
// no room at all, and what it is told.
#include "sched/rules/power_room.h"

#include <algorithm>

#include "sched/rules/job_rules.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

// The powered-down nodes that could serve the class.
Bitmap sleepers(const NodeQuestion& q) { return q.asked.feasible & q.nodes.usable() & q.nodes.powered_down(); }

void leave(const NodeQuestion& q, Bitmap& open) {
  if (q.nodes.room_to_wake() == 0) open -= q.nodes.powered_down();
}

// Too few nodes are left, or not those that it names, and that is for want of nodes that may be woken.
Hold missing(const NodeQuestion& q, const Bitmap& open) {
  if (!waits_for_power(q)) return {};
  const size_t room = q.nodes.room_to_wake(), wanted = std::max<size_t>({q.asked.shape.min_nodes, q.asked.required.count(), 1});
  const size_t awake = (open - q.nodes.powered_down()).count(), sleep = sleepers(q).count();
  const bool enough = awake + std::min(sleep, room) >= wanted && q.asked.required.count_and(q.nodes.powered_down()) <= room;
  if (enough || awake + sleep < wanted) return {};
  return {Reason::kResources, q.nodes.said_of_room_to_wake()};
}

std::string says(const NodeQuestion& q) { return waits_for_power(q) ? q.nodes.said_of_room_to_wake() : std::string(); }

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  if (q.node.nodes.room_to_wake() > 0) return;
  (left & q.node.nodes.powered_down()).for_each([&](size_t id) { q.out(NodeCause::kNotWoken, static_cast<uint32_t>(id)); });
}

// The last word: what the cluster of the moment has powered up, whatever the plan knew.
Result<> at_start(const StartQuestion& q) {
  if (!q.params.max_powered_nodes) return {};
  uint64_t woken = 0, powered = 0;
  for (const NodeShare& share : q.allocation.nodes)
    if (const Node* node = q.cluster.nodes.find(share.node.value)) woken += (node->flags & kNodePoweredDown) && !counts_as_powered(*node);
  if (woken == 0) return {};
  q.cluster.nodes.for_each([&](uint32_t, const Node& node) { powered += counts_as_powered(node); });
  if (powered + woken <= *q.params.max_powered_nodes) return {};
  return fail(Errc::kNodesBusy, {}, "max_powered_nodes: no more nodes may be powered up");
}

}  // namespace

bool waits_for_power(const NodeQuestion& q) { return q.nodes.limits_waking() && !q.nodes.may_wake(sleepers(q)); }

constinit const NodeRule kNotWoken{
    .name = "max_powered_nodes", .by = HelpedBy::kTurn, .leave = leave, .missing = missing, .says = says, .sort_out = sort_out};

// Which nodes a job may have at all, the rows above have said by then.
constinit const JobRule kPoweredNodes{
    .name = "powered nodes",
    .of = Of::kAmount,
    .by = HelpedBy::kTurn,
    .concerns = [](const RequestClass&, const Partition&, const Params& params) { return params.max_powered_nodes.has_value(); },
    .holds = [](const JobQuestion&, const Held&, Grant&) -> Hold { return {}; },
    .at_start = at_start};

}  // namespace muster::sched
