// Valid choices: the second line of a refusal, which names what there is instead of what was asked for. Worked out only when a request is
// refused; O(partitions + nodes). Lists are cut at kShown names.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// Whether the caller may submit to the partition; the rules of submit.cc set it.
using MayUse = std::function<bool(const Partition&)>;

// "partitions here: main, debug", and the one that was probably meant by `wrong`.
std::string choice_of_partitions(const Cluster& cluster, const MayUse& may_use, std::string_view wrong);
// "partition long allows it" …; "" when no partition does.
std::string partitions_allowing(const Cluster& cluster, const MayUse& may_use, const MayUse& allows);
std::string choice_of_nodes(const Cluster& cluster, std::string_view wrong);

}  // namespace muster::slurmctld
