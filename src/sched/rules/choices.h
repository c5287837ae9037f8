// What there is, said beside a name that does not exist: "; did you mean gpu?" or "; there are: a, b and others".
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "model/cluster.h"
#include "sched/supply/availability.h"

namespace muster::sched {

std::string choice_of(const std::set<std::string>& names, std::string_view wrong);
std::set<std::string> features_there(const Cluster& cluster);
std::set<std::string> devices_there(const Availability& nodes);  // "gpu:h100"

}  // namespace muster::sched
