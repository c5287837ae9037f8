// Reserved: what reservations keep from a request class, now and later. A pass has one, made for its moment; classes that stand to the
// reservations alike share a side of it, and those with the same time limit besides a view.
//
//   Side   for whom: the jobs of one reservation, or those of none; and when which nodes are closed to them
//   View   of a side, for a job that starts now and runs so long: the nodes that are closed to it, what of others is kept from it
//
// A job outside a reservation ends by its time limit before the reservation begins, or starts behind its end. One inside starts within it
// and is ended with it, so its time limit may be longer. Guide reservations; scontrol(1) RESERVATIONS.
//
// Cost: made O(reservations · log) once the table of reservations has changed, else O(1); a side O(nodes of the reservations); a view
// O(reservations · nodes / 64) for each distinct number of reservations that begin within the time limit, else O(log).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/pmap.h"
#include "model/cluster.h"

namespace muster::sched {

// A stretch of time; `until` kTimeInfinite: for good.
struct Stretch {
  Time from{}, until{};
};

// Cores and devices of one node that are kept from a side for a time.
struct KeptPart {
  Stretch when;
  NodeShare share;
};
struct KeptLicenses {
  Stretch when;
  uint32_t reservation = 0;
  const std::vector<LicenseShare>* all = nullptr;
};

struct ReservedSide {
  uint32_t number = 0;  // of no other side of this Reserved
  const Reservation* own = nullptr;
  bool gone = false;                                // the class names a reservation that is not there
  std::vector<std::vector<Stretch>> closed;         // by node: merged, in order; nodes beyond the end: never
  std::map<uint32_t, std::vector<KeptPart>> parts;  // by node
  std::vector<KeptLicenses> licenses;
  bool outside = false;  // nodes beyond those of its reservation are closed for good
  Bitmap within;         // with `outside`: those of its reservation

  bool closed_for_good(uint32_t node) const { return outside && !within.test(node); }
  bool keeps_nothing() const { return closed.empty() && parts.empty() && !outside; }
};

class Reserved;

struct ReservedView {
  std::shared_ptr<const ReservedSide> side;
  Bitmap closed;                 // nodes not open to a job that starts now
  Bitmap maintained;             // of these: by a reservation with MAINT
  std::vector<NodeShare> parts;  // kept from it on nodes that are open
  Time begins{};                 // its own reservation is still to begin: when; kTimeUnset: it has begun
  bool over = false;             // its own reservation has ended
  bool same_as(const ReservedView& o) const {
    return side->own == o.side->own && side->gone == o.side->gone && begins == o.begins && over == o.over && closed == o.closed &&
           parts == o.parts;
  }
};
using ReservedViewPtr = std::shared_ptr<const ReservedView>;

// What of a class matters here. `warned`: --signal=R: with so much time, for MaxStartDelay; zero: not asked for.
struct Reserver {
  uint32_t reservation = 0;
  uint32_t time_limit_min = 0;
  Duration warned{};
};

class Reserved {
 public:
  // `longest`: how long a job without a time limit is expected to run.
  void update(const Cluster& cluster, Time now, Duration longest);
  bool none() const { return table_.empty(); }
  ReservedViewPtr view(const Reserver& of);
  // Licences: what jobs in a reservation hold of those that it keeps.
  void forget_use() { used_.clear(); }
  void use(uint32_t reservation, const std::vector<LicenseShare>& held);
  // What is kept from the side of what a job takes in this stretch of time.
  std::vector<LicenseShare> kept_licenses(const ReservedSide& side, Stretch when) const;
  // When a job that starts now is over: by its time limit or with its reservation.
  Time end_of(const Reserver& of) const;
  Time now() const { return now_; }
  // The same for the time limit: no longer than what is left of its reservation, or than that lasts if it is still to begin.
  uint32_t limit_of(const Reserver& of) const;

 private:
  using SideKey = std::tuple<uint32_t, int64_t, uint32_t>;  // reservation, seconds of warning, floating ones that are too near
  std::shared_ptr<const ReservedSide> side(const SideKey& key);
  void close_for_others(ReservedSide& out, const SideKey& key) const;
  ReservedViewPtr make_view(const std::shared_ptr<const ReservedSide>& side, const SideKey& key, Time end) const;
  bool keeps_out(const Reservation& r, const Reservation* own, const SideKey& key) const;
  Stretch stretch_of(const Reservation& r) const;
  uint32_t floating_within(Duration length) const;

  PersistentMap<Reservation> table_;
  PersistentMap<Node> make_;
  uint64_t nodes_ = 0;                        // epoch of make_
  std::vector<const Reservation*> by_start_;  // those with a fixed time
  std::vector<const Reservation*> floating_;  // by how far ahead they begin
  std::vector<Time> edges_;                   // begins and ends, in order: between two of them views stay what they are
  std::map<SideKey, std::shared_ptr<const ReservedSide>> sides_;
  std::map<std::pair<SideKey, size_t>, ReservedViewPtr> views_;  // by side, and how many reservations begin before the end
  std::map<uint32_t, std::vector<LicenseShare>> used_;
  Time now_{};
  Duration longest_{};
  size_t edge_ = 0;  // edges_ before now
};

}  // namespace muster::sched
