// muster up: write the configuration, start slurmctld and the nodes, wait until they are idle. What it
// started is ended again when something fails, and the logs' last lines are shown.
#pragma once

#include "muster/place.h"

namespace muster::front {

int up(const Place& place, const Plan& plan);

}  // namespace muster::front
