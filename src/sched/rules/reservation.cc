// Reservations: who may be in one, when it is open, and which nodes the others leave. What they keep from a class is worked out in
// supply/reserved.h, who may use one in reserve/access.h. Guide reservations.
#include <algorithm>

#include "sched/reserve/access.h"
#include "sched/rules/in_the_way.h"
#include "sched/rules/job_rules.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

bool named(const RequestClass& c, const Partition&, const Params&) { return c.reservation != 0; }

Hold access(const JobQuestion& q, const Held&, Grant&) {
  const Reservation* r = q.cluster.reservations.find(q.asked.reservation);
  if (!r) return {Reason::kReservationDeleted, "no reservation has this name any more"};
  if (uses_any_reservation(q.params, q.request.uid)) return {};
  const std::string_view list = kept_out_by(q.cluster, *r, q.request, q.partition.name);
  if (list.empty()) return {};
  return {Reason::kReservation, "reservation " + r->name + " is not for this job (" + std::string(list) + ")"};
}

Hold time(const JobQuestion& q, const Held&, Grant&) {
  const ReservedView* view = q.asked.reserved.get();
  if (!view || !view->side->own) return {};
  const Reservation& r = *view->side->own;
  if (view->begins != kTimeUnset) return {Reason::kReservation, "reservation " + r.name + " begins at " + format_time(r.start)};
  if (view->over) return {Reason::kReservation, "reservation " + r.name + " ended at " + format_time(r.end)};
  return {};
}

// Whether a share of a node takes something that the reservation keeps.
bool takes_from(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  if (!r.by_cores()) return true;
  const NodeShare* part = r.share_of(share.node);
  if (!part) return false;
  if (share.cpus.intersects(part->cpus)) return true;
  return std::ranges::any_of(part->gres, [&](const GresShare& kept) {
    return std::ranges::any_of(share.gres, [&](const GresShare& g) { return g.name == kept.name && g.devices.intersects(kept.devices); });
  });
}

// Whether the share stays within the reservation's part of the node.
bool is_within(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  const NodeShare* part = r.share_of(share.node);
  return !r.by_cores() || (part && part->cpus.contains(share.cpus));
}

std::unexpected<Error> reserved(const Cluster& cluster, const Reservation& r, NodeId node) {
  const Node* n = cluster.nodes.find(node.value);
  return fail(Errc::kNodesBusy, {}, (n ? n->spec->name : std::string("?")) + ": reservation " + r.name + " has it");
}

Result<> within_own(const StartQuestion& q, const Reservation& own) {
  if (!uses_any_reservation(q.params, q.request.uid) && !kept_out_by(q.cluster, own, q.request, q.partition.name).empty())
    return fail(Errc::kReservationAccess);
  if (own.confines() && !own.active(q.now)) return fail(Errc::kReservationNotUsable);
  if (own.confines_nodes())
    for (const NodeShare& share : q.allocation.nodes)
      if (!is_within(own, share)) return fail(Errc::kReservationNotUsable);
  return {};
}

Result<> at_start(const StartQuestion& question) {
  const Reservation* own = question.cluster.reservations.find(question.reservation);
  if (question.reservation && !own) return fail(Errc::kReservationInvalid);
  if (own) MUSTER_TRY_VOID(within_own(question, *own));
  Result<> out;
  each_in_the_way(question, [&](const Reservation& r) {
    if (r.has(kResvAnyNodes)) return;
    for (const NodeShare& share : question.allocation.nodes)
      if (out && takes_from(r, share)) out = reserved(question.cluster, r, share.node);
  });
  return out;
}

void leave(const NodeQuestion& q, Bitmap& open) {
  if (q.asked.reserved) open -= q.asked.reserved->closed;
}

// Named nodes that a reservation has.
bool wants_closed(const NodeQuestion& q) {
  return q.asked.reserved && q.asked.required.intersects(q.asked.reserved->closed) && !q.asked.reservation;
}

Reason waits(const NodeQuestion& q) { return wants_closed(q) ? Reason::kReqNodeNotAvail : Reason::kNone; }

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  const auto& view = q.node.asked.reserved;
  if (!view) return;
  (left & view->closed).for_each([&](size_t id) { q.out(NodeCause::kReserved, static_cast<uint32_t>(id)); });
}

}  // namespace

constinit const JobRule kReservationAccess{
    .name = "reservation", .of = Of::kRequest, .concerns = named, .holds = access, .at_start = at_start};

constinit const JobRule kReservationTime{
    .name = "time of the reservation", .of = Of::kRequest, .by = HelpedBy::kForeseen, .concerns = named, .holds = time};

constinit const NodeRule kReservations{
    .name = "reservations", .by = HelpedBy::kForeseen, .leave = leave, .waits = waits, .sort_out = sort_out};

}  // namespace muster::sched
