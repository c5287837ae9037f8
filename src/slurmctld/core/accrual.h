// Which waiting jobs grow in priority by their age: not those that are beyond the limits of their partition, and only as many as limits let
// (GrpJobsAccrue, MaxJobsAccrue, MaxJobsAccruePU and PA). Guides resource_limits and priority_multifactor; sacctmgr(1). Priorities move in steps of PriorityCalcPeriod, so it is looked at once in such a period: jobs that
// are eligible get their turn in the order in which they became it.
//
// A job that such a limit bounds is marked when it is submitted (Job::accrues); all others cost nothing. Cost: O(pending jobs) in a period
// where such a limit is set or a job came to be beyond its partition's limits, or is so no more; else O(associations + QOS).
#pragma once

#include <string_view>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// Whether it is a limit of a partition that keeps the age of a job that waits for it from growing.
bool is_of_partition_limit(Reason reason);
// Whether a limit on how many grow is set anywhere. Cost: O(associations + QOS).
bool takes_turns(const Cluster& cluster);
// It waits for nothing but resources and limits, so its age counts, if no limit on such jobs holds that up.
bool waits_its_turn(const Job& job, Time now);

// Whether a job that is held for now waits for nothing else, so that it is eligible anew, and its age begins again, when it is released:
// slurm.conf(5) PriorityFlags, ACCRUE_ALWAYS. A crontab's job comes at its times. `e`: what is about to become of the job.
bool is_eligible_anew(const View& v, const Job& job, const event::JobChanged& e);

// Whom a job counts for: jobs that are alike in this count for the same. The texts are the request's and live as long as that.
struct CountsFor {
  uint32_t association = 0, partition = 0;
  Uid uid{};
  std::string_view account, qos;
  static CountsFor of(const Job& job);
  auto operator<=>(const CountsFor&) const = default;
};
// Counts that many jobs that are alike in whom they count for, this one among them, as growing in priority.
void count_accruing(Ledger& ledger, const Cluster& cluster, const Job& job, uint32_t jobs);
// Also lets those go on that waited for a limit that is no longer there.
Events decide_accrual(const View& v);

}  // namespace muster::slurmctld
