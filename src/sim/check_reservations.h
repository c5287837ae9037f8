// Checks of reservations, by looking at each of them: see checkers.h.
#pragma once

#include <functional>
#include <string>

#include "model/cluster.h"
#include "model/event.h"

namespace muster::sim {

using Complain = std::function<void(const std::string&)>;
void check_reservation(const Cluster& mirror, const event::JobStarted& start, const Complain& complain);
void check_end_of_reservation(const Cluster& mirror, uint32_t id, const Complain& complain);

}  // namespace muster::sim
