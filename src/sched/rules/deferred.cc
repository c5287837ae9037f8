// SchedulerParameters=defer: no job is looked at when it is submitted, but together with others later. So a job that is to start at once
// or never (--immediate) does not start, and is cancelled when its seconds are over. It is the one effect that `defer` has: a plan is made
// beside the controller and holds up no submission. slurm.conf(5) SchedulerParameters; guide job_reason_codes, SchedDefer.
#include "sched/rules/job_rules.h"

namespace muster::sched {

constinit const JobRule kDeferred{
    .name = "deferred",
    .of = Of::kRequest,
    .concerns = [](const RequestClass&, const Partition&, const Params& params) { return params.defer; },
    .holds = [](const JobQuestion& q, const Held&, Grant&) -> Hold {
      if (!q.request.immediate_seconds) return {};
      return {Reason::kSchedDefer, "SchedulerParameters=defer: nothing starts at the moment of its submission (--immediate)"};
    }};

}  // namespace muster::sched
