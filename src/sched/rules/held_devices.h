// Whether the devices, or shares of devices, that a plan gives to a job exist on the node and are held by nobody.
// Cost: O(devices of the node and of its jobs).
#pragma once

#include "model/node.h"

namespace muster::sched {

bool devices_fit(const Node& node, const GresShare& wanted);

}  // namespace muster::sched
