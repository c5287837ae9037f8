// What queries show of a state: see check_queries.cc. Pure.
#pragma once

#include <string>

#include "slurmctld/core/core.h"

namespace muster::sim {

// What is wrong with the answers; "": nothing.
std::string queries_problem(const slurmctld::Core& core, Time now);

}  // namespace muster::sim
