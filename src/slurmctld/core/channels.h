// IMEX channels (SwitchType=switch/nvidia_imex, ADR 25): a job that starts is given one that nobody else in the cluster holds, or with
// --network=unique-channel-per-segment in a block topology one for each of its segments. Components of a heterogeneous job that ask for
// no more share one: what runs over all of them is one program. Whoever holds a channel keeps it until nothing of the job is left on any
// of its nodes (model/channels.h); it is in the allocation, and so in the log before a node learns of it.
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// Of the numbers below `total`, `count` that are not used, looked for from `from` on and round; fewer: none at all. A number that became
// free is so found late again. Cost: O(total) at most.
std::vector<uint32_t> free_channels(const PersistentMap<uint32_t>& used, uint32_t total, uint32_t from, uint32_t count);

// The allocation with the job's channels in it; the same one where none are given. Error: kSwitchBusy.
Result<AllocationPtr> with_channels(const View& view, const Job& job, uint32_t partition, const AllocationPtr& allocation);

// Whether --network says what is known here, and asks for no more channels than there are.
Result<> check_network(const View& view, const JobRequest& request, const std::vector<uint32_t>& partitions);
// The same of the components of a heterogeneous job together, each of which has passed.
Result<> check_networks(const View& view, const std::vector<Accepted>& components);

}  // namespace muster::slurmctld
