// IMEX channels (SwitchType=switch/nvidia_imex): a job starts only when one of them is free. Which one it gets, and how many where each
// segment has its own, is settled at its start (slurmctld/core/channels.h), which drops the item of a plan when too few are left. Any job
// wants one, so those of a pass are not counted: the next pass sees what is left. slurm.conf(5) SwitchParameters=imex_channel_count.
#include "sched/rules/job_rules.h"

namespace muster::sched {

constinit const JobRule kChannels{
    .name = "channels",
    .of = Of::kAmount,
    .by = HelpedBy::kJobsEnd,
    .concerns = [](const RequestClass&, const Partition&, const Params& params) { return params.imex_channels > 0; },
    .holds = [](const JobQuestion& q, const Held&, Grant&) -> Hold {
      if (q.cluster.channels.size() < q.params.imex_channels) return {};
      return {Reason::kResources, "all " + std::to_string(q.params.imex_channels) + " IMEX channels are in use (imex_channel_count)"};
    }};

}  // namespace muster::sched
