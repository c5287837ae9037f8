// What muster-match prints: stable text, the same for the same state, no trailing blanks, every line complete. Nothing is decided here.
//
// An allocation has one line for neighbouring nodes that hold the same:
//     n[1-2]  cpus=0-7 mem=4000M gres=gpu:h100:2(IDX:0-1) tasks=2
#pragma once

#include <string>

#include "model/cluster.h"
#include "model/explanation.h"
#include "sched/planner.h"

namespace muster::match {

// "job", "job_3" for a started task, "job_[3-9%2]" for the waiting rest of an array.
std::string name_of(const Job& job);
// "nodes=n[1-2] cpus=16 tasks=2 switches=1", then a line per group of nodes.
std::string allocation_text(const Cluster& cluster, const Allocation& allocation);
// "00:30:00", "1-02:00:00"; "UNLIMITED" for what never ends.
std::string span_text(Duration span);
// The verdict on a waiting job: "Resources, expected +00:30:00 on n[1-2] (detail)".
std::string verdict_text(const Verdict& verdict, Time now);
// What stands under the verdict: the job's nodes by cause, and what would start it sooner.
std::string explanation_text(const JobExplanation& explanation);
std::string nodes_table(const Cluster& cluster);
std::string queue_table(const Cluster& cluster, Time now);
// A line for each unit of all topologies: its kind, its idle nodes, all its nodes.
std::string topology_table(const Cluster& cluster);

}  // namespace muster::match
