// muster down, status and logs, and the parts of them that `up` uses.
#pragma once

#include <vector>

#include "model/rows.h"
#include "muster/place.h"

namespace muster::front {

int down(const Place& place);
int status(const Place& place);
// Prints the last `lines` of the logs of slurmctld and the nodes, or of the one named.
int logs(const Place& place, const std::string& name, size_t lines);

// Sends SIGTERM to the daemons that run, and SIGKILL to those left after some seconds. Gives the number that ran.
size_t end_daemons(const Place& place);

Result<std::vector<NodeRow>> query_nodes(const Place& place);

}  // namespace muster::front
