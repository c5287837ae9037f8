// Why a job waits, and what is the matter with a node, as values (model/explanation.h), from a snapshot. The verdicts are those of the
// scheduler: node_census.h counts nodes by cause, what_if.h says when the job would start, changes.h what would start it sooner.
//
// Cost: for a waiting job one full pass over the jobs ahead of it and at most kMaxForecasts questions (changes.h);
// everything else O(jobs + nodes).
#pragma once

#include "model/explanation.h"
#include "sched/planned.h"
#include "sched/planner.h"

namespace muster::sched {

JobExplanation explain_job(const Cluster& cluster, const Params& params, Time now, const Job& job);
// `planned`: of the last full pass. Where the node is kept for a job that waits, that job is the last of NodeExplanation::jobs, PENDING, with the
// moment from which it is kept as its start; job_count leaves it out.
NodeExplanation explain_node(const Cluster& cluster, const Params& params, Time now, const Node& node,
                             const PlannedNodes* planned = nullptr);

// One line about a job for the lists of an explanation.
JobBrief brief_of(const Cluster& cluster, const Job& job);

}  // namespace muster::sched
