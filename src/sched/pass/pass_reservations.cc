// What a pass does otherwise for jobs in reservations. The rules themselves: rules/reservation.cc.
#include "sched/pass/held_back.h"

namespace muster::sched {

// A job that waits in a reservation keeps back those behind it there, and nobody else.
bool PlanPass::is_closed(const RequestClass& c) const {
  return c.reservation ? closed_reservations_.contains(c.reservation) : closed_.test(c.partition);
}

bool PlanPass::close_reservation(const RequestClass& c) {
  if (!c.reservation) return false;
  if (!closed_reservations_.insert(c.reservation).second || backfills()) return true;
  const Reservation* r = cluster_.reservations.find(c.reservation);
  if (!held_back_) held_back_ = std::make_unique<HeldBack>(nodes_.size());
  if (r) held_back_->add(r->nodes);
  return true;
}

RareText PlanPass::said_of(const Wait& why, Reason reason, const std::vector<uint32_t>& classes) const {
  if (why.ruled) return why.detail;
  if (reason == Reason::kResources) return backfills() && !wants_power(nodes_, pending_, classes) ? std::string() : why.detail;
  if (reason != Reason::kReqNodeNotAvail) return {};
  for (uint32_t id : classes) {
    const RequestClass& c = pending_.classes()[id]->shape;
    if (c.reserved && c.required.intersects(c.reserved->maintained)) return std::string("ReqNodeNotAvail, Reserved for maintenance");
  }
  return std::string("ReqNodeNotAvail, May be reserved for other job");
}

uint32_t PlanPass::limit_within(const RequestClass& c, uint32_t limit_min) const {
  Reserver of = c.reserver();
  of.time_limit_min = limit_min;
  return nodes_.reserved().limit_of(of);
}

// Of jobs that ask for reservations: that this repetition has no place for them. The first of them is expected to start with the next one, if
// it fits there; those behind it are not told a start, for nobody knows yet what is left to them.
bool PlanPass::say_never_within(const std::vector<uint32_t>& classes, Verdict& verdict) {
  // Whether it would fit if the reservation were its alone, by counting. Of one of cores and devices nothing is said.
  const auto fits_next_time = [&](const Reservation& reservation, const RequestClass& asked) {
    if (asked.never || reservation.by_cores() || !reservation.confines()) return false;
    RequestClass alone = asked;
    alone.feasible &= nodes_.usable();
    if (reservation.confines_nodes()) alone.feasible &= reservation.nodes;
    return alone.feasible.contains(asked.required) && has_room_when_idle(alone);
  };
  for (uint32_t id : classes) {
    const WaitingClass& waiting = *pending_.classes()[id];
    const Reservation* r = waiting.named ? cluster_.reservations.find(waiting.shape.reservation) : nullptr;
    if (!r) continue;
    if (!verdict.detail.empty()) return true;
    std::string said = "no start within sight in reservation " + r->name + ", " + format_time(r->start) + " to " + format_time(r->end);
    if (r->repeats()) {
      const Time next = next_repetition(*r, now_);
      said += "; it comes again at " + format_time(next);
      if (fits_next_time(*r, waiting.shape) && foretold_.insert(r->id).second) verdict.expected_start = next;
    }
    verdict.detail = said;
    return true;
  }
  return false;
}

}  // namespace muster::sched
