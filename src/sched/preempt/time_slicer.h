// Time slices: which of the jobs that hold the same CPUs run, and which are suspended until their turn. slurm.conf(5) PreemptMode=GANG,
// SchedulerTimeSlice; guides gang_scheduling and preempt.
//
// Jobs of a higher PriorityTier come first and cast a shadow on those below: these are suspended as long as the others are there. Within a
// partition jobs take turns: whoever has waited longest goes on, and whoever else fits beside runs too. Jobs of different partitions with
// the same tier do not take turns. Components of heterogeneous jobs take no part: they run beside whoever has their CPUs, and nobody waits for
// them. A new job that finds its CPUs in use waits for the next slice. Jobs have certain
// CPUs also with CR_CPU, so only those that have the same ones wait for each other.
//
// Cost: O(jobs given x their shares).
#pragma once

#include <span>
#include <vector>

#include "model/cluster.h"

namespace muster::sched {

struct Shift {
  JobId job{};
  bool resume = false;
  SuspendCause cause = SuspendCause::kTimeSlice;  // of one that is suspended
  JobId by{};                                     // kPreempted: the job in whose shadow it is
  bool operator==(const Shift&) const = default;
};

// Whether the job takes part: it runs, or waits for its turn. Of a component only that it waits, which it must not.
bool takes_turns(const Job& job);

// `jobs`: those that wait for their turn and all others on their nodes, and those on nodes where something changed; ascending by id.
// `next_slice`: a slice is over, so those who run go behind those who wait. Otherwise whoever runs goes on if no job of a higher tier came.
std::vector<Shift> shifts(const Cluster& cluster, std::span<const Job* const> jobs, bool next_slice);

}  // namespace muster::sched
