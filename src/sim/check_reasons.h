// Every pending reason true: at a quiet moment, when a full pass has just gone over the queue and nothing has changed since, what squeue says
// of each waiting job is worked out by brute force from the jobs and nodes themselves. See checkers.h and check_reasons.cc, which lists the
// reasons of which nothing is said, and why.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sim {

// Complains of each job whose reason is not true at that moment. The verdicts are those of cluster.moment.
void check_reasons(const Cluster& cluster, const sched::Params& params, Time now, const std::function<void(const std::string&)>& complain);

// Why nothing is said of a reason; "": it is checked.
std::string_view why_unchecked(Reason reason);

}  // namespace muster::sim
