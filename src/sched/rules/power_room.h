// What a pass asks of max_powered_nodes beside what it asks of every rule (power_room.cc).
#pragma once

#include "sched/rules/node_rule.h"

namespace muster::sched {

// Whether the class could use more powered-down nodes than may be woken, so that a job of it which found no place may wait for that.
bool waits_for_power(const NodeQuestion& question);

}  // namespace muster::sched
