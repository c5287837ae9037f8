// Reservations at the moment of a start, worked out anew by looking at each of them: nobody runs into one that is not his, and who is in one
// belongs there. When one is over, so are its jobs.
#include <algorithm>

#include "sim/check_reservations.h"

namespace muster::sim {
namespace {

bool takes_from(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  if (r.partial.empty()) return true;
  return std::ranges::any_of(r.partial, [&](const NodeShare& p) { return p.node == share.node && p.cpus.intersects(share.cpus); });
}

bool has_all(const Reservation& r, const NodeShare& share) {
  if (!r.nodes.test(share.node.value)) return false;
  if (r.partial.empty()) return true;
  return std::ranges::any_of(r.partial, [&](const NodeShare& p) { return p.node == share.node && p.cpus.contains(share.cpus); });
}

}  // namespace

void check_reservation(const Cluster& mirror, const event::JobStarted& started, const Complain& complain) {
  const Job* job = mirror.jobs.find(started.job.value);
  if (!job || mirror.reservations.empty()) return;
  auto bad = [&](const std::string& what) { complain("job " + std::to_string(started.job.value) + ": " + what); };
  const uint32_t limit = started.time_limit_min.value_or(job->time_limit_min);
  Time end = limit == kUnlimited32 ? kTimeInfinite : started.time + minutes(limit);
  const Reservation* own = mirror.reservations.find(started.reservation);
  if (started.reservation && !own) return bad("starts in a reservation that is not there");
  const bool flexible = own && (own->flags & kResvFlex);
  if (own && !flexible) {
    end = std::min(end, own->end);
    if (own->start > started.time || own->end <= started.time) bad("starts in " + own->name + " while that is not active");
    for (const NodeShare& s : started.allocation->nodes)
      if (!has_all(*own, s)) bad("is in " + own->name + " and has something of another node or core");
  }
  if (own && own->users.admits(job->request->user_name) == false) bad("of " + job->request->user_name + " is in " + own->name);
  if (own && job->request->reservation.empty() && !(own->flags & kResvMagnetic)) bad("is in " + own->name + " and never asked for it");
  constexpr uint64_t kOver = kResvOverlap | kResvMaint;
  mirror.reservations.for_each([&](uint32_t, const Reservation& r) {
    if (&r == own || r.start >= end || r.end <= started.time) return;
    if (own && ((own->flags & kOver) || (!(r.flags & kOver) && own->id < r.id))) return;  // r gives way
    for (const NodeShare& s : started.allocation->nodes)
      if (takes_from(r, s)) bad("runs into " + r.name + " on " + mirror.nodes.at(s.node.value).spec->name);
  });
}

void check_end_of_reservation(const Cluster& mirror, uint32_t id, const Complain& complain) {
  const Reservation* r = mirror.reservations.find(id);
  if (!r || (r->flags & kResvFlex)) return;
  mirror.jobs.for_each([&](uint32_t number, const Job& j) {
    if (!j.pending() && !j.finished() && j.run->reservation == id)
      complain("job " + std::to_string(number) + " runs on in " + r->name + ", which is over");
  });
}

}  // namespace muster::sim
