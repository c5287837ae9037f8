// A planner with caches plans the same as a fresh one, reasons and expected starts included.
#include <map>
#include <utility>

#include "sim/world.h"

namespace muster::sim {

void Checkers::planned(const Cluster& cluster, const sched::Params& params, Time now, sched::Pass pass, const sched::Plan& plan) {
  sched::Plan fresh = sched::Planner().plan(cluster, params, now, pass);
  bool same = fresh.starts.size() == plan.starts.size();
  for (size_t i = 0; same && i < plan.starts.size(); ++i) {
    const sched::StartItem &a = plan.starts[i], &b = fresh.starts[i];
    same = a.job == b.job && a.array_task == b.array_task && a.partition == b.partition && *a.allocation == *b.allocation;
  }
  auto expected = [](const sched::Plan& p) {
    std::map<uint32_t, std::pair<Reason, Time>> out;
    for (const auto& [id, verdict] : p.verdicts) out[id.value] = {verdict.reason, verdict.expected_start};
    return out;
  };
  if (same && expected(plan) != expected(fresh)) fail("plan", "the planner gives other reasons or expected starts than a fresh one");
  if (!same)
    fail("plan", "the planner starts " + std::to_string(plan.starts.size()) + " jobs, a fresh one " + std::to_string(fresh.starts.size()) +
                     ", or elsewhere");
}

}  // namespace muster::sim
