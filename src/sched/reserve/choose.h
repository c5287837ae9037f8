// The nodes, cores and devices that a new or changed reservation gets. Nodes that are named are taken as they are; others are chosen from its
// partition: with its features, in service, not in another reservation at that time, nothing running there when it begins; idle ones first,
// then by weight and number. With cores or devices it gets parts of nodes, as a job would. scontrol(1) RESERVATIONS - SPECIFICATIONS.
//
// Errors: kReservationOverlap for named nodes that another reservation has, kNodesBusy where too few are left or jobs run on, kInvalidFeature,
// kInvalidCoreCount. Cost: O(reservations · nodes / 64), O(nodes + jobs of the candidates).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sched/params.h"
#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// What jobs hold of a node from some moment on.
struct HeldFrom {
  bool any = false;
  NodeUse use;
};

struct ReservationWish {
  const Cluster& cluster;
  const Params& params;
  Time now{};
  const Reservation& reservation;       // with its times and flags; its nodes are not looked at
  const Reservation* before = nullptr;  // as it was, for a change
  std::optional<Bitmap> named;          // these nodes; none: choose
  std::optional<uint32_t> count;        // so many; none: all that are named, or that the partition has
  Bitmap keep;                          // taken first where they will do: those it has
  std::vector<uint32_t> cores;          // in all, or one for each node
  std::vector<GresNeed> gres_in_all, gres_per_node;
  std::function<HeldFrom(const Node&, Time from)> held;  // by jobs that are there at that moment
};

struct Reserving {
  Bitmap nodes;
  std::vector<NodeShare> partial;
};

Result<Reserving> choose_for_reservation(const ReservationWish& wish);

// Whether two reservations are there at the same time, now or in a repetition to come.
bool same_time(const Reservation& one, const Reservation& another, Time now);

}  // namespace muster::sched
