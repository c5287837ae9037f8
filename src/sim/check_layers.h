// Checks of hierarchical resources, by looking at each job: no layer gives more than it has, and a job holds of each resource what the mode
// says for its nodes. Guide hres.
#pragma once

#include <functional>
#include <string>

#include "model/cluster.h"
#include "model/hres.h"

namespace muster::sim {

void check_layers(const Cluster& cluster, const Hierarchies& all, const std::function<void(const std::string&)>& complain);

}  // namespace muster::sim
