#include "slurmctld/core/reservation_state.h"

#include <algorithm>

namespace muster::slurmctld {
namespace {

// Jobs may start now that waited, and nodes may be free for others.
void raise_epochs(Cluster& c) {
  ++c.use_epoch;
  ++c.jobs_epoch;
}

}  // namespace

void set_reservation(Cluster& c, Indexes& x, const Reservation* r) {
  if (!r) return;
  if (const Reservation* old = c.reservations.find(r->id)) x.remove_reservation(*old);
  c.last_reservation = std::max(c.last_reservation, r->id);
  c.reservations.set(r->id, *r);
  x.add_reservation(*r);
  raise_epochs(c);
}

void remove_reservation(Cluster& c, Indexes& x, uint32_t id) {
  const Reservation* old = c.reservations.find(id);
  if (!old) return;
  x.remove_reservation(*old);
  c.reservations.erase(id);
  raise_epochs(c);
}

void enter_reservation(const Cluster& c, uint32_t id, JobRun& run) {
  run.reservation = id;
  if (const Reservation* r = c.reservations.find(id)) run.reservation_name = r->name;
}

void note_use(Cluster& c, Indexes& x, uint32_t id, Time time) {
  const Reservation* old = id ? c.reservations.find(id) : nullptr;
  if (!old || old->last_used >= time) return;
  x.remove_reservation(*old);
  Reservation& r = *c.reservations.edit(id);
  r.last_used = time;
  x.add_reservation(r);
}

void leave_reservations(Cluster& c, NodeId node) {
  std::vector<uint32_t> ids;
  c.reservations.for_each([&](uint32_t id, const Reservation& r) {
    if (r.nodes.test(node.value)) ids.push_back(id);
  });
  for (uint32_t id : ids) {
    Reservation& r = *c.reservations.edit(id);
    r.nodes.reset(node.value);
    std::erase_if(r.partial, [&](const NodeShare& s) { return s.node == node; });
  }
}

}  // namespace muster::slurmctld
