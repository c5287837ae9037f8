// State= of a partition: jobs start where it is UP or DRAIN. slurm.conf(5).
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  if (q.partition.state == PartitionState::kDown) return {Reason::kPartitionDown};
  if (q.partition.state == PartitionState::kInactive) return {Reason::kPartitionInactive};
  return {};
}

Result<> at_start(const StartQuestion& q) {
  if (q.partition.state == PartitionState::kDown || q.partition.state == PartitionState::kInactive)
    return fail(Errc::kPartitionNotAvailable);
  return {};
}

}  // namespace

constinit const JobRule kPartitionState{.name = "partition state", .same_for_class = true, .holds = holds, .at_start = at_start};

}  // namespace muster::sched
