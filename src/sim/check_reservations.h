// Checks of reservations, by looking at each of them: see checkers.h.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"

namespace muster::sim {

// Whether all lists of the reservation admit the job: users, groups, accounts with those below them, QOS, partitions. scontrol(1).
bool is_let_in(const Cluster& cluster, const Reservation& reservation, const RequestBody& request, const std::string& partition);

using Complain = std::function<void(const std::string&)>;
// `licenses`: how many there are of each.
using Pools = std::vector<std::pair<std::string, uint64_t>>;
void check_reservation(const Cluster& mirror, const event::JobStarted& start, const Pools& licenses, const Complain& complain);
void check_end_of_reservation(const Cluster& mirror, uint32_t id, const Complain& complain);

}  // namespace muster::sim
