// Which jobs have to give up licences for one that waits for them. PreemptParameters=reclaim_licenses; slurm.conf(5), guide preempt: only
// those that are requeued or cancelled, for one that is suspended keeps its licences, and not for a job that names alternatives.
//
// Cost: O(occupants x licences named), and a question for each of those that hold one of them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/license_needs.h"
#include "sched/preempt/occupants.h"

namespace muster::sched {

// Indexes of occupants, ascending: as few as it takes, those of the lowest rank first, none of them needless. `enough` says whether the job
// could have its licences if these (by index) gave back theirs. Nothing: not if all of them went.
std::optional<std::vector<uint32_t>> license_victims(const Occupants& occupants, const PreemptRule& rule, const Preemptor& who,
                                                     const LicenseNeeds& needs,
                                                     const std::function<bool(const std::vector<uint32_t>&)>& enough);

}  // namespace muster::sched
