// Accounts and QOS: asks sched/gate.h, which knows them.
#include "sched/gate.h"
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  if (!q.gate) return {};
  Bar bar = q.gate->bars({q.request, q.partition});
  return {bar.reason, std::move(bar.detail)};
}

}  // namespace

constinit const JobRule kAccounting{
    .name = "accounts and QOS",
    .concerns = [](const RequestClass&, const Partition&, const Params& params) { return Gate::judges_accounts(params); },
    .holds = holds,
    .at_start = [](const StartQuestion& q) { return admitted_now(q.cluster, q.params, q.request, q.partition); }};

}  // namespace muster::sched
