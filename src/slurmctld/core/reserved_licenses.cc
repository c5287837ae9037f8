#include "slurmctld/core/reserved_licenses.h"

#include <algorithm>
#include <vector>

#include "sched/reserve/choose.h"

namespace muster::slurmctld {
namespace {

uint64_t count_of(const Reservation& r, const std::string& license) {
  uint64_t sum = 0;
  for (const LicenseShare& l : r.licenses)
    if (l.name == license) sum += l.count;
  return sum;
}

// The most that the others have of it at one time: at the begin of this one, or of one of them.
uint64_t most_of(const std::vector<const Reservation*>& others, const Reservation& mine, const std::string& license, Time now) {
  std::vector<Time> moments = {mine.starts(now)};
  for (const Reservation* r : others)
    if (r->starts(now) > moments.front()) moments.push_back(r->starts(now));
  uint64_t most = 0;
  for (const Time at : moments) {
    uint64_t there = 0;
    for (const Reservation* r : others)
      if (r->repeats() || mine.repeats() || (r->starts(now) <= at && at < r->ends(now))) there += count_of(*r, license);
    most = std::max(most, there);
  }
  return most;
}

}  // namespace

Result<> check_reserved_licenses(const View& view, const Reservation& reservation) {
  if (reservation.licenses.empty() || reservation.overlaps()) return {};
  std::vector<const Reservation*> others;
  view.cluster.reservations.for_each([&](uint32_t id, const Reservation& other) {
    if (id != reservation.id && !other.licenses.empty() && sched::same_time(reservation, other, view.now)) others.push_back(&other);
  });
  for (const auto& [license, all] : view.settings.sched.licenses) {
    const uint64_t wanted = count_of(reservation, license), taken = wanted ? most_of(others, reservation, license, view.now) : 0;
    if (!taken || wanted + taken <= all) continue;
    std::string names;
    for (const Reservation* r : others)
      if (count_of(*r, license)) names += (names.empty() ? "" : ",") + r->name;
    return fail(Errc::kReservationOverlap, {},
                std::to_string(taken) + " of the " + std::to_string(all) + " licenses of " + license + " are reserved then (" + names +
                    "); Flags=OVERLAP or MAINT lets them overlap");
  }
  return {};
}

}  // namespace muster::slurmctld
