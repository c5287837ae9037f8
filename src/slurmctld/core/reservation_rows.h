// Reservations as rows, and which nodes they have now. Pure; called on the query thread. Cost: O(reservations + their nodes).
#pragma once

#include "model/rpc.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

Result<rpc::ReservationRows> query_reservations(const Cluster& cluster, const rpc::QueryReservations& query, Time now,
                                                const Privacy& privacy);
ReservationRow make_reservation_row(const Cluster& cluster, const Reservation& r, Time now);

// Which reservation has a node now, and whether that is for maintenance. Those that have begun are asked, so no clock is needed.
class ReservedNodes {
 public:
  explicit ReservedNodes(const Cluster& cluster);
  void mark(NodeId node, NodeRow& row) const;
  uint32_t flags_of(NodeId node) const;  // kNodeReserved, kNodeMaint

 private:
  const Cluster& cluster_;
  std::vector<const Reservation*> begun_;
};

}  // namespace muster::slurmctld
