// muster down, status and logs, and what `up` uses of them.
#pragma once

#include <vector>

#include "model/rows.h"
#include "muster/place.h"

namespace muster::front {

int down(const Place& place);
int status(const Place& place);
// The last `lines` of slurmctld's and the nodes' logs, or of one.
int logs(const Place& place, const std::string& name, size_t lines);

// SIGTERM to the daemons that run, SIGKILL to what is left after some seconds. The number that ran.
size_t end_daemons(const Place& place);

Result<std::vector<NodeRow>> query_nodes(const Place& place);

}  // namespace muster::front
