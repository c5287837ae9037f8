// muster up: writes the configuration, starts slurmctld and the nodes, waits until they are idle. When something fails, the daemons it
// started are ended again, and the last lines of the logs are shown.
#pragma once

#include "muster/place.h"

namespace muster::front {

int up(const Place& place, const Plan& plan);

}  // namespace muster::front
