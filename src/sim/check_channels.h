// Checks of IMEX channels, by looking at each job: no two jobs hold the same one, but for components of one heterogeneous job; whoever runs
// has one on each node, and none that is not there; the cluster's count is that of its jobs.
#pragma once

#include <functional>
#include <string>

#include "model/cluster.h"

namespace muster::sim {

void check_channels(const Cluster& cluster, uint32_t total, const std::function<void(const std::string&)>& complain);

}  // namespace muster::sim
